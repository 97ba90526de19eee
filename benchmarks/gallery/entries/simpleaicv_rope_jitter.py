"""SimpleAICV moves the jitter of the coordinates one row after it is used."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="zgcr/SimpleAICV_pytorch_training_examples",
    commit="14b1826de76dea833df4c74ed653132714741ef2",
    file="SimpleAICV/detection/models/backbones/dinov3vit.py",
    row=242,
    code="DEV105",
    what="Training DINOv3 with `jitter_coords` on a GPU raises: the jitter is moved only after it was multiplied.",
    expected="Expected all tensors to be on the same device",
    raised_at=243,
)


def show(device: str) -> object:
    """Embed positions while training with jittered coordinates."""
    stand_in("torchvision", "PIL", "cv2")
    rope = module("SimpleAICV.detection.models.backbones.dinov3vit", alone=True).RopePositionEmbedding
    return rope(16, 2, jitter_coords=1.5).to(device)(4, 4)
