"""A model of captum's test helpers makes a layer in forward(), on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="captum",
    commit="0.9.0",
    file="captum/testing/helpers/basic_models.py",
    row=457,
    code="DEV105",
    what="The model cannot be used in tests on a GPU, because forward() makes two linear layers on the host.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Run the moved model."""
    made = module("captum.testing.helpers.basic_models", alone=True).BasicModel_GradientLayerAttribution()
    return made.to(device)(torch.rand(2, 3, device=device))
