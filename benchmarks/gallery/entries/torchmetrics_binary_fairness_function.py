"""torchmetrics makes the target of binary_fairness() on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="torchmetrics",
    commit="1.9.0",
    file="torchmetrics/functional/classification/group_fairness.py",
    row=364,
    code="DEV105",
    what='binary_fairness(task="demographic_parity") of predictions on a GPU raises.',
    expected="indices should be either on cpu or on the same device as the indexed tensor",
    raised_at=367,
)


def show(device: str) -> object:
    """Ask for the demographic parity."""
    preds, groups = (torch.tensor([0, 1, 0, 1], device=device) for _ in range(2))
    fairness = module("torchmetrics.functional.classification").binary_fairness
    return fairness(preds, None, groups, task="demographic_parity")
