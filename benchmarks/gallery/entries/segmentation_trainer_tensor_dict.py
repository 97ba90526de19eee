"""pytorch_segmentation_models_trainer throws the moved tensors of a dict away."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="dsgoficial/pytorch_segmentation_models_trainer",
    commit="7a396fc9e303e9b1c974c5850782d48be61fead3",
    file="pytorch_segmentation_models_trainer/utils/tensor_utils.py",
    row=341,
    code="DEV201",
    what='tensor_dict_to_device(detection, "cpu") gives the polygonizer the tensors of the GPU, unmoved.',
    expected="boxes are on cuda:0",
    observed=True,
)


def show(device: str) -> object:
    """Move a dict to the host, as the callbacks do."""
    stand_in("kornia", "cv2", "PIL", "shapely", "torchvision", "descartes", "skimage", "matplotlib")
    utils = module("pytorch_segmentation_models_trainer.utils.tensor_utils", alone=True)
    moved = utils.tensor_dict_to_device({"boxes": torch.rand(2, 4, device=device)}, "cpu")
    return f"boxes are on {moved['boxes'].device}"
