"""ptlflow throws the cast position encoding away."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="ptlflow",
    commit="0.4.2",
    file="ptlflow/models/matchflow/matching_encoder.py",
    row=238,
    code="DEV201",
    what="Features in half precision leave the encoding in float32, because the cast encoding is not kept.",
    expected="encoded as torch.float32",
    observed=True,
)


def show(device: str) -> object:
    """Encode features in half precision."""
    stand_in("timm", "torchvision", "einops", "cv2", "loguru", "lightning", "torchmetrics", "xformers", "natten")
    made = (
        module("ptlflow.models.matchflow.matching_encoder", alone=True).PositionEncodingSineNorm(8, (4, 4)).to(device)
    )
    return f"encoded as {made(torch.rand(1, 8, 4, 4, device=device).half())[0].dtype}"
