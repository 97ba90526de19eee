"""vit_pytorch's MPPLoss keeps the deviation of the pixels as a plain tensor."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="vit_pytorch",
    commit="1.26.11",
    file="vit_pytorch/mpp.py",
    row=49,
    code="DEV103",
    what="Pretraining with a mean and a deviation fails on a GPU, because .to() leaves both on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=58,
)


def show(device: str) -> object:
    """Compute the loss of a moved MPPLoss."""
    loss = module("vit_pytorch.mpp", alone=True).MPPLoss(4, 3, 3, 1.0, [0.5] * 3, [0.25] * 3)
    mask = torch.ones(1, 4, dtype=torch.bool, device=device)
    return loss.to(device)(torch.rand(1, 4, 512, device=device), torch.rand(1, 3, 8, 8, device=device), mask)
