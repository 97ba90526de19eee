"""SpeechBrain's GlobalNorm makes the default lengths on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="speechbrain",
    commit="1.1.2",
    file="speechbrain/processing/features.py",
    row=1717,
    code="DEV105",
    what="GlobalNorm without lengths raises for a batch on a GPU.",
    expected="Expected all tensors to be on the same device",
    raised_at=1722,
)


def show(device: str) -> object:
    """Normalise a batch without lengths."""
    stand_in("torchaudio", "hyperpyyaml", "tqdm")
    return (
        module("speechbrain.processing.features").GlobalNorm(length_dim=1).to(device)(torch.rand(2, 3, device=device))
    )
