"""TabNetEncoder keeps its group matrix as a plain tensor."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="pytorch_tabnet",
    commit="4.1.0",
    file="pytorch_tabnet/tab_network.py",
    row=109,
    code="DEV103",
    what="A TabNetEncoder without groups cannot run on a GPU, because .to() leaves the matrix on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=179,
)


def show(device: str) -> object:
    """Run a moved encoder, made without groups."""
    net = module("pytorch_tabnet.tab_network", alone=True)
    return net.TabNetEncoder(4, 2).to(device)(torch.rand(4, 4, device=device))
