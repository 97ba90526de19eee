"""nflows makes the identity of LULinear.weight_inverse() on the host."""

from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/transforms/lu.py",
    row=109,
    code="DEV105",
    what=(
        "weight_inverse() of a layer on a GPU solves an identity of the host against the layer's triangles and raises."
    ),
    expected="Expected all tensors to be on the same device",
    raised_at=110,
)


def show(device: str) -> object:
    """Invert the weight of a moved layer."""
    return module("nflows.transforms.lu").LULinear(3).to(device).weight_inverse()
