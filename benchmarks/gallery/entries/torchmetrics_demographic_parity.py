"""torchmetrics makes the target of demographic_parity() on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="torchmetrics",
    commit="1.9.0",
    file="torchmetrics/functional/classification/group_fairness.py",
    row=234,
    code="DEV105",
    what="demographic_parity() of predictions on a GPU raises.",
    expected="indices should be either on cpu or on the same device as the indexed tensor",
    raised_at=236,
)


def show(device: str) -> object:
    """Call the function as its documentation does."""
    preds, groups = (torch.tensor([0, 1, 0, 1], device=device) for _ in range(2))
    return module("torchmetrics.functional.classification").demographic_parity(preds, groups)
