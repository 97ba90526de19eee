"""nflows keeps the temperature of Sigmoid as a plain tensor, which .to() does not move."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/transforms/nonlinearities.py",
    row=129,
    code="DEV103",
    what="A flow that ends with Sigmoid() cannot run on a GPU, because .to() leaves the temperature on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=132,
)


def show(device: str) -> object:
    """Run the moved transform forward."""
    transform = module("nflows.transforms.nonlinearities").Sigmoid().to(device)
    return transform(torch.zeros(2, 3, device=device))
