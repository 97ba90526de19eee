"""nflows draws the noise of ConditionalIndependentBernoulli on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="nflows",
    commit="0.14",
    file="nflows/distributions/discrete.py",
    row=66,
    code="DEV105",
    what="sample() with a context on a GPU compares noise of the host with the probabilities and raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=67,
)


def show(device: str) -> object:
    """Sample with a context on the device."""
    stand_in("matplotlib")
    made = module("nflows.distributions.discrete").ConditionalIndependentBernoulli([3])
    return made.sample(4, context=torch.zeros(2, 3, device=device))
