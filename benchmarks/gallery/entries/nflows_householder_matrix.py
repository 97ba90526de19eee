"""nflows makes the identity of HouseholderSequence.matrix() on the host."""

from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/transforms/orthogonal.py",
    row=108,
    code="DEV105",
    what="matrix() of a transform on a GPU multiplies an identity of the host with the parameters and raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=82,
)


def show(device: str) -> object:
    """Ask a moved transform for its matrix."""
    return module("nflows.transforms.orthogonal").HouseholderSequence(3, 2).to(device).matrix()
