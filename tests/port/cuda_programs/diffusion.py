"""A denoiser whose schedule is a buffer, and whose steps are drawn on the host."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, steps=10):
        super().__init__()
        self.register_buffer("alphas", torch.linspace(0.99, 0.5, steps))
        self.net = nn.Sequential(nn.Linear(3, 12), nn.SiLU(), nn.Linear(12, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.float().unsqueeze(1) / len(self.alphas)], dim=1))


def sample(model, count):
    x = torch.randn(count, 2).to(torch.device("cuda"))
    for t in reversed(range(len(model.alphas))):
        x = x - 0.1 * model(x, torch.full((count,), t, device="cuda"))
    return x


def main():
    torch.manual_seed(11)
    if not isinstance(torch.initial_seed(), int):
        raise SystemExit
    model = Denoiser().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        clean, noise = torch.randn(4, 2).cuda(), torch.randn(4, 2).cuda()
        t = torch.randint(0, 10, (4,)).cuda()
        a = model.alphas[t].unsqueeze(1)
        loss = (model(a.sqrt() * clean + (1 - a).sqrt() * noise, t) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    with torch.no_grad():
        print([repr(one) for one in sample(model, 2).flatten().tolist()])


if __name__ == "__main__":
    main()
