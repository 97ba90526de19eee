"""pytorch-widedeep indexes an identity of the host with targets of several classes."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="jrzaurin/pytorch-widedeep",
    commit="268dad9c228d3e6c598d677a023979707524a313",
    file="pytorch_widedeep/losses_multitarget.py",
    row=202,
    code="DEV105",
    what="MultiTargetClassificationLoss(binary_trick=True) raises for targets of several classes on a GPU.",
    expected="indices should be either on cpu or on the same device as the indexed tensor",
)


def show(device: str) -> object:
    """Compute the loss of one target with three classes."""
    stand_in(
        "torchvision",
        "pandas",
        "sklearn",
        "gensim",
        "spacy",
        "cv2",
        "imutils",
        "tqdm",
        "joblib",
        "fastparquet",
        "pyarrow",
        "torchmetrics",
        "transformers",
        "scipy",
        "sentencepiece",
    )
    losses = module("pytorch_widedeep.losses_multitarget")
    loss = losses.MultiTargetClassificationLoss(binary_config=None, multiclass_config=[(0, 3)], binary_trick=True)
    return loss.to(device)(torch.rand(2, 3, device=device), torch.ones(2, 1, device=device))
