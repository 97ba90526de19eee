"""RT-DETR makes the normaliser of its offsets on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="yyq19990828/RT-DETRv3-PyTorch",
    commit="77920d2629d002a00902da857eb817bed80ea826",
    file="examples/rtdetrv2_pytorch/src/zoo/rtdetr/rtdetr_decoder.py",
    row=123,
    code="DEV105",
    what="MSDeformableAttention with points of two coordinates, as documented, raises on a GPU.",
    expected="Expected all tensors to be on the same device",
    raised_at=128,
    inside="examples/rtdetrv2_pytorch",
)


def show(device: str) -> object:
    """Attend with reference points as the documentation describes them."""
    stand_in("google", "tensorboard", "torchvision")
    net = module("src.zoo.rtdetr.rtdetr_decoder", alone=True)
    attention = net.MSDeformableAttention(8, num_heads=2, num_levels=1, num_points=1).to(device)
    query = torch.rand(1, 3, 8, device=device)
    return attention(query, torch.rand(1, 3, 1, 2, device=device), torch.rand(1, 4, 8, device=device), [(2, 2)])
