"""pytorchcv pads the input of VisemeNet's second stage with zeros of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pytorchcv",
    commit="0.0.74",
    file="pytorchcv/models/visemenet.py",
    row=165,
    code="DEV105",
    what="VisemeNet cannot run on a GPU: forward() concatenates zeros of the host.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Run a moved network as its own test does."""
    stand_in("requests", "tqdm")
    net = module("pytorchcv.models.visemenet", alone=True).visemenet20().eval().to(device)
    return net(torch.rand(34, 8, 195, device=device), torch.full((34, 76), 3.0, device=device))
