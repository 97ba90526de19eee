"""pytorchvideo makes the indices of uniform_temporal_subsample() on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pytorchvideo",
    commit="0.1.5",
    file="pytorchvideo/transforms/functional.py",
    row=39,
    code="DEV105",
    what="uniform_temporal_subsample() of a clip on a GPU raises.",
    expected="Expected all tensors to be on the same device",
    raised_at=41,
)


def show(device: str) -> object:
    """Keep four frames of a clip."""
    stand_in("torchvision", "cv2")
    return module("pytorchvideo.transforms.functional", alone=True).uniform_temporal_subsample(
        torch.ones(3, 8, 4, 4, device=device), 4
    )
