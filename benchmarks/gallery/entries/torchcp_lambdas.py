"""TorchCP concatenates quantiles of the scores with infinities of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="torchcp",
    commit="1.2.1",
    file="torchcp/llm/predictor/conformal_llm.py",
    row=246,
    code="DEV105",
    what="Calibrating ConformalLM with scores on a GPU raises.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Select thresholds from scores."""
    stand_in("torch_geometric", "torchsort", "transformers", "tqdm", "scipy", "sklearn")
    predictor = module("torchcp.llm.predictor.conformal_llm").ConformalLM
    return predictor._ConformalLM__select_lambdas(None, torch.rand(5, device=device))
