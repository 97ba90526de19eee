"""SimpleAICV moves the shift of the coordinates one row after it is used."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="zgcr/SimpleAICV_pytorch_training_examples",
    commit="14b1826de76dea833df4c74ed653132714741ef2",
    file="SimpleAICV/detection/models/backbones/dinov3vit.py",
    row=233,
    code="DEV105",
    what="Training DINOv3 with `shift_coords` on a GPU raises: the shift is moved only after it was added.",
    expected="Expected all tensors to be on the same device",
    raised_at=235,
)


def show(device: str) -> object:
    """Embed positions while training with shifted coordinates."""
    stand_in("torchvision", "PIL", "cv2")
    rope = module("SimpleAICV.detection.models.backbones.dinov3vit", alone=True).RopePositionEmbedding
    return rope(16, 2, shift_coords=0.1).to(device)(4, 4)
