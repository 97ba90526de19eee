"""pytorchvideo makes the default mask of MaskedTemporalPooling on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="pytorchvideo",
    commit="0.1.5",
    file="pytorchvideo/models/masked_multistream.py",
    row=69,
    code="DEV105",
    what="MaskedTemporalPooling without a mask raises for a sequence on a GPU.",
    expected="Expected all tensors to be on the same device",
    raised_at=80,
)


def show(device: str) -> object:
    """Pool a sequence without a mask."""
    net = module("pytorchvideo.models.masked_multistream", alone=True)
    return net.MaskedTemporalPooling("avg").to(device)(torch.ones(2, 3, 4, device=device))
