"""sbi's residual embedding makes its last layers in forward(), on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="sbi",
    commit="0.27.0",
    file="sbi/neural_nets/embedding_nets/resnet.py",
    row=281,
    code="DEV105",
    what="ResNetEmbedding2D cannot run on a GPU: its last layers are made in forward(), after the network was moved.",
    expected="Expected all tensors to be on the same device",
    raised_at=289,
)


def show(device: str) -> object:
    """Embed a batch with a moved network."""
    net = module("sbi.neural_nets.embedding_nets.resnet", alone=True)
    return net.ResNetEmbedding2D(1, c_out=4).to(device)(torch.rand(2, 1, 32, 32, device=device))
