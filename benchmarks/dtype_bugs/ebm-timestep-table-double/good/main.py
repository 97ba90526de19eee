import math

import torch
import torch.nn as nn


class MLPTimestepEmbedder(nn.Module):
    def __init__(self, out_dim, frequency_embedding_size=32):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(frequency_embedding_size, out_dim),
            nn.SiLU(),
            nn.Linear(out_dim, out_dim),
        )
        self.frequency_embedding_size = frequency_embedding_size

    @staticmethod
    def timestep_embedding(t, dim, max_period=10000):
        half = dim // 2
        freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32, device=t.device) / half)
        args = t[:, None].float() * freqs[None]
        return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)

    def forward(self, t):
        t_freq = self.timestep_embedding(t, self.frequency_embedding_size)
        return self.mlp(t_freq.to(self.mlp[0].weight.dtype))


class ConditionalVelocity(nn.Module):
    def __init__(self, dim, hidden=32):
        super().__init__()
        self.embed_t = MLPTimestepEmbedder(hidden)
        self.inp = nn.Linear(dim, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, x, t):
        return self.out(torch.relu(self.inp(x) + self.embed_t(t)))


class FlowSampler:
    def __init__(self, model, dtype=torch.float32, device=None):
        self.device = torch.device(device or "cpu")
        self.dtype = dtype
        self.model = model.to(device=self.device, dtype=dtype)

    @torch.no_grad()
    def sample(self, n, dim, steps=4):
        x = torch.randn(n, dim, dtype=self.dtype, device=self.device)
        for i in range(steps):
            t = torch.full((n,), i / steps, dtype=self.dtype, device=self.device)
            x = x + self.model(x, t) / steps
        return x


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sampler = FlowSampler(ConditionalVelocity(2), dtype=torch.float64, device=device)
    print(sampler.sample(5, 2))


if __name__ == "__main__":
    main()
