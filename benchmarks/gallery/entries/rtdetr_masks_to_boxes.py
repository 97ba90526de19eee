"""masks_to_boxes() of RT-DETR makes its grid on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="yyq19990828/RT-DETRv3-PyTorch",
    commit="77920d2629d002a00902da857eb817bed80ea826",
    file="examples/rtdetrv2_pytorch/src/zoo/rtdetr/box_ops.py",
    row=79,
    code="DEV105",
    what="Whoever asks for the boxes of masks on a GPU gets an error, because the grid is made on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=82,
    inside="examples/rtdetrv2_pytorch",
)


def show(device: str) -> object:
    """Ask for the boxes of two masks."""
    stand_in("torchvision")
    boxes = module("src.zoo.rtdetr.box_ops", alone=True)
    return boxes.masks_to_boxes(torch.ones(2, 8, 8, device=device))
