"""geoopt compares an inner product with a zero of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="geoopt",
    commit="0.5.1",
    file="geoopt/manifolds/lorentz/__init__.py",
    row=63,
    code="DEV105",
    what="check_vector_on_tangent() of a Lorentz manifold raises for vectors on a GPU.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Check a tangent vector."""
    manifold = module("geoopt").Lorentz().to(device)
    point = manifold.origin(3, device=device)
    return manifold.check_vector_on_tangent(point, torch.zeros(3, device=device))
