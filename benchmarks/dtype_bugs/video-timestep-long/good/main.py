import torch
import torch.nn as nn


class TimestepEmbedder(nn.Module):
    def __init__(self, dim, frequency_embedding_size=16, max_period=10000):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(frequency_embedding_size, dim),
            nn.SiLU(),
            nn.Linear(dim, dim),
        )
        freqs = 1.0 / (
            max_period ** (torch.arange(0, frequency_embedding_size, 2, dtype=torch.float32) / frequency_embedding_size)
        )
        self.register_buffer("freqs", freqs, persistent=False)

    def timestep_embedding(self, timestep):
        args = timestep[:, None].float() * self.freqs[None]
        return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)

    def forward(self, timestep):
        embedding = self.timestep_embedding(timestep).to(dtype=self.mlp[0].weight.dtype)
        return self.mlp(embedding)


class MMAudioTransformer(nn.Module):
    def __init__(self, latent_dim=8, hidden=16):
        super().__init__()
        self.t_embed = TimestepEmbedder(hidden)
        self.audio_input_proj = nn.Linear(latent_dim, hidden)
        self.final_layer = nn.Linear(hidden, latent_dim)

    def forward(self, hidden_states, timestep: torch.LongTensor):
        h = self.audio_input_proj(hidden_states)
        h = h + self.t_embed(timestep)[:, None]
        return self.final_layer(torch.relu(h))


class FlowMatchScheduler:
    def __init__(self, num_train_timesteps=1000):
        self.num_train_timesteps = num_train_timesteps
        self.timesteps = None

    def set_timesteps(self, n, device):
        steps = torch.linspace(self.num_train_timesteps - 1, 0, n)
        self.timesteps = steps.round().to(torch.int64).to(device)

    def step(self, velocity, sample, n):
        return sample - velocity / n


class V2APipeline:
    def __init__(self, transformer, scheduler):
        self.transformer = transformer
        self.scheduler = scheduler

    @torch.no_grad()
    def __call__(self, batch, length, steps=3):
        device = next(self.transformer.parameters()).device
        self.scheduler.set_timesteps(steps, device)
        latents = torch.randn(batch, length, 8, device=device)
        for t in self.scheduler.timesteps:
            timestep = t.expand(batch)
            latents = self.scheduler.step(self.transformer(latents, timestep), latents, steps)
        return latents


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pipeline = V2APipeline(MMAudioTransformer().to(device), FlowMatchScheduler())
    print(pipeline(2, 5).shape)


if __name__ == "__main__":
    main()
