"""Pyro's rtril() multiplies with a triangle of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pyro_ppl",
    commit="1.9.2",
    file="pyro/contrib/util.py",
    row=72,
    code="DEV105",
    what="rtril() of a matrix on a GPU raises.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Take the lower triangle."""
    stand_in("tqdm")
    return module("pyro.contrib.util").rtril(torch.rand(3, 3, device=device))
