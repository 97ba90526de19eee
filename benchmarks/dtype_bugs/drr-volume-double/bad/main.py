import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def load_example_ct(size=16):
    grid = np.linspace(-1, 1, size)
    x, y, z = np.meshgrid(grid, grid, grid, indexing="ij")
    volume = np.exp(-4 * (x**2 + y**2 + z**2))
    spacing = [1.0, 1.0, 1.5]
    return volume, spacing


class Detector(nn.Module):
    def __init__(self, height, delx):
        super().__init__()
        t = (torch.arange(height) - height / 2) * delx / height
        self.register_buffer("plane", torch.stack(torch.meshgrid(t, t, indexing="ij"), -1))

    def forward(self, rotation):
        c, s = torch.cos(rotation), torch.sin(rotation)
        matrix = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
        return self.plane @ matrix


class DRR(nn.Module):
    """Renders digitally reconstructed radiographs of a volume."""

    def __init__(self, volume, spacing, height, delx=2.0, n_points=20):
        super().__init__()
        self.detector = Detector(height, delx)
        self.register_buffer("spacing", torch.tensor(spacing))
        self.register_buffer("volume", torch.tensor(volume))
        self.n_points = n_points

    def forward(self, rotation):
        points = self.detector(rotation)
        depth = torch.linspace(-1, 1, self.n_points, device=points.device)
        h, w, _ = points.shape
        plane = points[None].expand(self.n_points, h, w, 2)
        z = depth[:, None, None, None].expand(self.n_points, h, w, 1)
        grid = torch.cat([plane, z], -1)[None].to(self.volume.dtype)
        samples = F.grid_sample(self.volume[None, None], grid, align_corners=True)
        return samples[0, 0].sum(0) * self.spacing[2]


def pick_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def main():
    device = pick_device()
    volume, spacing = load_example_ct()
    drr = DRR(volume, spacing, height=16).to(device)
    for angle in (0.0, 0.3, 0.6):
        image = drr(torch.tensor(angle, device=device))
        print(image.shape)


if __name__ == "__main__":
    main()
