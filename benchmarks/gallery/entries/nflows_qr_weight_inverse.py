"""nflows makes the identity of QRLinear.weight_inverse() on the host."""

from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/transforms/qr.py",
    row=103,
    code="DEV105",
    what=(
        "weight_inverse() of a layer on a GPU solves an identity of the host against the layer's triangle and raises."
    ),
    expected="Expected all tensors to be on the same device",
    raised_at=104,
)


def show(device: str) -> object:
    """Invert the weight of a moved layer."""
    return module("nflows.transforms.qr").QRLinear(3, 2).to(device).weight_inverse()
