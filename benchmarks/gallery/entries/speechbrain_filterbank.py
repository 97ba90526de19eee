"""SpeechBrain's Filterbank keeps its frequency axis as a plain tensor."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="speechbrain",
    commit="1.1.2",
    file="speechbrain/processing/features.py",
    row=510,
    code="DEV103",
    what="Filterbank(freeze=False) cannot run on a GPU: the filters move, the frequency axis does not.",
    expected="Expected all tensors to be on the same device",
    raised_at=560,
)


def show(device: str) -> object:
    """Compute features with filters that can be learned."""
    stand_in("torchaudio", "hyperpyyaml", "tqdm")
    features = module("speechbrain.processing.features").Filterbank(freeze=False)
    return features.to(device)(torch.rand(2, 5, 201, device=device))
