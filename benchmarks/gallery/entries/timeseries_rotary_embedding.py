"""RotaryEmbedding of pytorch_timeseries keeps its cache as plain tensors."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="wayne155/pytorch_timeseries",
    commit="28f0424b60cb0a69140356c63b6862f417aa315a",
    file="torch_timeseries/nn/temporal_encoding.py",
    row=166,
    code="DEV103",
    what="A RotaryEmbedding that was moved to a GPU raises, because its cache of 5000 steps stays on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=179,
)


def show(device: str) -> object:
    """Rotate queries and keys, as the documentation does."""
    net = module("torch_timeseries.nn.temporal_encoding", alone=True)
    queries = torch.rand(1, 2, 3, 8, device=device)
    return net.RotaryEmbedding(dim=8).to(device)(queries, queries)
