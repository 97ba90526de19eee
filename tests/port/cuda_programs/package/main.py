"""A program of several files."""

import torch
from network import Network
from settings import DEVICE, WIDTH

torch.manual_seed(12)
network = Network().to(DEVICE)
optimizer = torch.optim.SGD(network.parameters(), lr=0.3)
for _ in range(3):
    loss = network(torch.randn(2, WIDTH).cuda()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
