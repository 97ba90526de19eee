"""pytorch-ood makes the loss of SSDeepSVDDLoss on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="kkirchheim/pytorch-ood",
    commit="d04767360a382d2ea1678d5a571cae66b73e5206",
    file="src/pytorch_ood/loss/svdd.py",
    row=149,
    code="DEV105",
    what="Training with SSDeepSVDDLoss on a GPU raises at the first batch.",
    expected="same device",
    raised_at=152,
    inside="src",
)


def show(device: str) -> object:
    """Compute the loss of two labelled samples."""
    stand_in("torchvision", "PIL", "torchmetrics")
    loss = module("pytorch_ood.loss.svdd", alone=True).SSDeepSVDDLoss(1)
    return loss.to(device)(torch.rand(2, 1, device=device), torch.zeros(2, dtype=torch.long, device=device))
