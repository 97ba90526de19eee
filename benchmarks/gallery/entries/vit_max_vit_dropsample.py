"""vit_pytorch's Dropsample asks a legacy constructor for a tensor on the GPU."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="vit_pytorch",
    commit="1.26.11",
    file="vit_pytorch/max_vit.py",
    row=87,
    code="DEV105",
    what=(
        "MaxViT with dropout cannot be trained on a GPU: torch.FloatTensor makes tensors of the "
        "host only and refuses the device."
    ),
    expected="legacy constructor expects device type: cpu",
)


def show(device: str) -> object:
    """Drop samples while training."""
    stand_in("torchvision")
    return module("vit_pytorch.max_vit", alone=True).Dropsample(0.5)(torch.ones(2, 3, 4, 4, device=device))
