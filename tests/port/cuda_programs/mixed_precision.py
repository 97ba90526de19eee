"""An autoencoder that can be trained in mixed precision; the option is off here."""

import argparse

import torch
from torch import nn
from torch.cuda.amp import GradScaler, autocast


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--device", default="cuda")
    return parser.parse_args([])


def main():
    args = parse()
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 2), nn.Tanh(), nn.Linear(2, 6)).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    scaler = GradScaler(enabled=args.amp)
    for _ in range(4):
        x = torch.randn(5, 6).to(args.device)
        optimizer.zero_grad()
        with autocast(args.amp):
            loss = ((model(x) - x) ** 2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print(repr(loss.item()))


if __name__ == "__main__":
    main()
