"""fastai throws the pinned copy of a tensor away."""

import numpy as np
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="fastai",
    commit="2.8.12",
    file="fastai/torch_core.py",
    row=142,
    code="DEV201",
    what="tensor(array, pin_memory=True) returns pageable memory.",
    expected="pinned: False",
    observed=True,
)


def show(device: str) -> object:
    """Ask for a pinned tensor."""
    stand_in(
        "fasthtml",
        "fasttransform",
        "matplotlib",
        "pandas",
        "fastprogress",
        "PIL",
        "requests",
        "sklearn",
        "spacy",
        "tqdm",
        "plum",
    )
    return f"pinned: {module('fastai.torch_core', alone=True).tensor(np.ones(3), pin_memory=True).is_pinned()}"
