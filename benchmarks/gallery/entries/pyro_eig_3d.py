"""Pyro's eig_3d() multiplies with an identity of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pyro_ppl",
    commit="1.9.2",
    file="pyro/ops/linalg.py",
    row=69,
    code="DEV105",
    what="eig_3d() of a matrix on a GPU raises.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Ask for the eigenvalues of a symmetric matrix."""
    stand_in("tqdm")
    return module("pyro.ops.linalg").eig_3d(torch.eye(3, device=device))
