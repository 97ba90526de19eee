"""masks_to_boxes() of detrex makes its grid on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="IDEA-Research/detrex",
    commit="e244e6c3da3e84566728c52c21fb061d23ce0e2f",
    file="detrex/layers/box_ops.py",
    row=132,
    code="DEV105",
    what="Whoever asks for the boxes of masks on a GPU gets an error, because the grid is made on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=135,
)


def show(device: str) -> object:
    """Ask for the boxes of two masks."""
    stand_in("torchvision")
    return module("detrex.layers.box_ops", alone=True).masks_to_boxes(torch.ones(2, 8, 8, device=device))
