"""Another test of RT-DETRv3 compares float32 boxes with int64 coordinates."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="yyq19990828/RT-DETRv3-PyTorch",
    commit="77920d2629d002a00902da857eb817bed80ea826",
    file="tests/test_transforms.py",
    row=153,
    code="DEV302",
    what="The test of the vertical flip errors on every machine instead of testing it.",
    expected="Float did not match Long",
    on_host_too=True,
)


def show(device: str) -> object:
    """Run the test."""
    stand_in("torchvision", "pycocotools", "google", "tensorboard", "PIL")
    return module("tests.test_transforms").TestFlipTransforms().test_random_vertical_flip()
