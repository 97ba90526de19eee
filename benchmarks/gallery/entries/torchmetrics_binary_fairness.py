"""torchmetrics makes the target of BinaryFairness on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="torchmetrics",
    commit="1.9.0",
    file="torchmetrics/classification/group_fairness.py",
    row=261,
    code="DEV105",
    what='BinaryFairness(task="demographic_parity") cannot be updated with predictions on a GPU.',
    expected="indices should be either on cpu or on the same device as the indexed tensor",
    raised_at=263,
)


def show(device: str) -> object:
    """Update the metric as its documentation does."""
    preds, groups = (torch.tensor([0, 1, 0, 1], device=device) for _ in range(2))
    metric = module("torchmetrics.classification.group_fairness").BinaryFairness(2, task="demographic_parity")
    return metric.to(device).update(preds, None, groups)
