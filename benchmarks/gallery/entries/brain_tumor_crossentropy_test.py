"""A test of the cross entropy gives logits of the host to a loss that moves its target."""

from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="raywu0123/Brain-Tumor-Segmentation",
    commit="3be20a1c3119aa31231295c9dc25e032808e96f4",
    file="models/loss_functions/misc.py",
    row=26,
    code="DEV101",
    what=(
        "The test of the cross entropy fails on every machine with a GPU: target and weights are "
        "moved there, the logits are not."
    ),
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Run the test."""
    stand_in("medpy")
    case = module("models.loss_functions.tests.test", alone=True).LossFunctionTestCase("test_crossentropy")
    case.setUp()
    return case.test_crossentropy()
