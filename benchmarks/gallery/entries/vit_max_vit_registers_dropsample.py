"""vit_pytorch's second Dropsample asks a legacy constructor for a tensor on the GPU, too."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="vit_pytorch",
    commit="1.26.11",
    file="vit_pytorch/max_vit_with_registers.py",
    row=82,
    code="DEV105",
    what="MaxViT with registers and dropout cannot be trained on a GPU: torch.FloatTensor refuses the device.",
    expected="legacy constructor expects device type: cpu",
)


def show(device: str) -> object:
    """Drop samples while training."""
    net = module("vit_pytorch.max_vit_with_registers", alone=True)
    return net.Dropsample(0.5)(torch.ones(2, 3, 4, 4, device=device))
