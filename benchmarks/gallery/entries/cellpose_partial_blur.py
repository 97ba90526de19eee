"""cellpose makes the mask of a partial blur on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="cellpose",
    commit="4.2.1.1",
    file="cellpose/denoise.py",
    row=152,
    code="DEV105",
    what="Training the denoising network with partial_blur=True on a GPU raises: the mask lies on the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=159,
)


def show(device: str) -> object:
    """Blur a part of an image."""
    stand_in(
        "torchvision",
        "cv2",
        "tqdm",
        "fastremap",
        "fill_voids",
        "roifile",
        "tifffile",
        "imagecodecs",
        "natsort",
        "segment_anything",
    )
    image = torch.rand(1, 1, 64, 64, device=device)
    return module("cellpose.denoise", alone=True).add_noise(
        image, poisson=0.0, blur=1.0, downsample=0.0, partial_blur=True
    )
