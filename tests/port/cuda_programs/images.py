"""A small network for images with a fixed device, a timer and figures of memory."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4 * 8 * 8, 5)

    def forward(self, x):
        return self.head(F.relu(self.conv(x)).flatten(1))


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = torch.zeros(steps, device="cuda")
    for step in range(steps):
        images, labels = torch.randn(4, 1, 8, 8), torch.randint(0, 5, (4,))
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        assert time.perf_counter() >= start
        losses[step] = loss.detach()
    return losses


torch.manual_seed(2)
model = ConvNet().to(device)
torch.cuda.reset_peak_memory_stats()
print([repr(one) for one in train(model, 4).tolist()])
peak = torch.cuda.max_memory_allocated() / 2**20
assert peak >= 0
torch.cuda.empty_cache()
