"""sbi makes the equispaced points of its Fourier embedding on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="sbi",
    commit="0.27.0",
    file="sbi/neural_nets/embedding_nets/SC_embedding.py",
    row=64,
    code="DEV105",
    what="SpectralConvEmbedding cannot run on a GPU: the Fourier matrix of equispaced points lies on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=93,
)


def show(device: str) -> object:
    """Embed equispaced data with a moved network."""
    net = module("sbi.neural_nets.embedding_nets.SC_embedding", alone=True).SpectralConvEmbedding
    made = net(modes=3, in_channels=2, out_channels=1, conv_channels=5, num_layers=1)
    return made.to(device)(torch.rand(4, 2, 8, device=device))
