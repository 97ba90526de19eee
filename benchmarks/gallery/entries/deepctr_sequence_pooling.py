"""DeepCTR-Torch throws the float mask of a sequence away."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="deepctr_torch",
    commit="0.3.0",
    file="deepctr_torch/layers/sequence.py",
    row=46,
    code="DEV201",
    what='SequencePoolingLayer(mode="max") raises on every device, because the mask stays boolean.',
    expected="Subtraction, the `-` operator, with a bool tensor is not supported",
    raised_at=66,
    on_host_too=True,
)


def show(device: str) -> object:
    """Pool sequences by their maximum."""
    layers = module("deepctr_torch.layers.sequence", alone=True)
    pool = layers.SequencePoolingLayer(mode="max", device=device)
    return pool([torch.rand(2, 3, 4, device=device), torch.tensor([[1], [2]], device=device)])
