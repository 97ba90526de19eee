"""A training that is saved, loaded again on the device, and continued."""

import os
import tempfile

import torch
from torch import nn


def make():
    model = nn.Linear(3, 3)
    model.cuda()
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def step(model, optimizer):
    x = torch.randn(4, 3).cuda(0)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))


def main():
    torch.manual_seed(6)
    model, optimizer = make()
    step(model, optimizer)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pt")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
        state = torch.load(path, map_location="cuda:0")
    again, optimizer = make()
    again.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step(again, optimizer)
    step(again, optimizer)


if __name__ == "__main__":
    main()
