"""ptlflow makes the coordinates of FlowSeek's motion bases on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="ptlflow",
    commit="0.4.2",
    file="ptlflow/models/flowseek/flowseek.py",
    row=193,
    code="DEV105",
    what="FlowSeek cannot run on a GPU: create_bases() combines a disparity of the GPU with coordinates of the host.",
    expected="Expected all tensors to be on the same device",
    raised_at=214,
)


def show(device: str) -> object:
    """Make the bases of a disparity."""
    stand_in(
        "torchmetrics",
        "torchvision",
        "lightning",
        "timm",
        "cv2",
        "loguru",
        "pandas",
        "PIL",
        "tqdm",
        "requests",
        "jsonargparse",
        "plotly",
        "scipy",
        "omegaconf",
        "huggingface_hub",
        "pypng",
        "png",
        "h5py",
        "kornia",
    )
    net = module("ptlflow.models.flowseek.flowseek", alone=True)
    return net.FlowSeek.create_bases(None, torch.rand(1, 1, 4, 4, device=device))
