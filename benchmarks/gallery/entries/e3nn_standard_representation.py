"""e3nn's standard_representation() forgets the device for one of its two factors."""

from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="e3nn",
    commit="0.6.0",
    file="e3nn/math/perm.py",
    row=144,
    code="DEV105",
    what="standard_representation(p, device=...) multiplies a matrix of the GPU with one of the host and raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=135,
)


def show(device: str) -> object:
    """Ask for a representation on the device."""
    return module("e3nn.math.perm").standard_representation((1, 0, 2), device=device)
