"""DETR's masks_to_boxes() makes its grid on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="facebookresearch/detr",
    commit="29901c51d7fe8712168b8d0d64351170bc0f83e0",
    file="util/box_ops.py",
    row=77,
    code="DEV105",
    what="Whoever asks for the boxes of masks on a GPU gets an error, because the grid is made on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=80,
)


def show(device: str) -> object:
    """Ask for the boxes of two masks."""
    stand_in("torchvision")
    return module("util.box_ops").masks_to_boxes(torch.ones(2, 8, 8, device=device))
