"""nflows starts the samples of MixtureOfGaussiansMADE on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/nn/nde/made.py",
    row=362,
    code="DEV105",
    what="sample() of a model that was moved to a GPU runs it on zeros of the host and raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=365,
)


def show(device: str) -> object:
    """Sample from a moved model."""
    stand_in("matplotlib")
    made = module("nflows.nn.nde.made").MixtureOfGaussiansMADE(features=3, hidden_features=8, context_features=2)
    return made.to(device).sample(4, context=torch.zeros(2, 2, device=device))
