"""nflows makes the bins of the inverse linear spline on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/transforms/splines/linear.py",
    row=65,
    code="DEV105",
    what="The inverse of a linear spline on a GPU divides by bin widths of the host and raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=70,
)


def show(device: str) -> object:
    """Invert the spline."""
    spline = module("nflows.transforms.splines.linear").linear_spline
    return spline(torch.rand(4, device=device), torch.rand(4, 5, device=device), inverse=True)
