"""TransformationToMatrix makes its skew matrix on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="ewoprager/grangeat-2d-3d-register-pytorch",
    commit="f4274a83838900b9da2c8c418e579c6e387a2e93",
    file="packages/reg23_experiments/src/reg23_experiments/ops/autograd_impl.py",
    row=15,
    code="DEV105",
    what=(
        "TransformationToMatrix raises for a transformation on a GPU, although it makes its "
        "identity on the caller's device."
    ),
    expected="Expected all tensors to be on the same device",
    raised_at=21,
    inside="packages/reg23_experiments/src",
)


def show(device: str) -> object:
    """Turn a transformation into a matrix."""
    transformation = torch.tensor([0.1, 0.2, 0.3, 1.0, 2.0, 3.0], device=device)
    return module("reg23_experiments.ops.autograd_impl", alone=True).TransformationToMatrix.apply(transformation)
