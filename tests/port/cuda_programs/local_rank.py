"""A script for one process of several, which takes its device from its rank."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
args = parser.parse_args([])


def worker(rank: int):
    torch.cuda.set_device(rank)
    torch.manual_seed(8 + rank)
    model = nn.Linear(4, 1).cuda(rank)
    scale = torch.full((1,), 0.5, device=f"cuda:{rank}")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(3, 4).to("cuda:{}".format(rank))
        loss = (model(x) * scale).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    torch.cuda.synchronize(rank)


worker(args.local_rank)
