"""TorchCP makes the quantiles of SSCL() on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="torchcp",
    commit="1.2.1",
    file="torchcp/llm/utils/metrics.py",
    row=70,
    code="DEV105",
    what="SSCL() of prediction sets on a GPU raises: torch.quantile wants both arguments on one device.",
    expected="same device",
)


def show(device: str) -> object:
    """Compute the metric."""
    stand_in("torch_geometric", "torchsort", "transformers", "tqdm", "scipy", "sklearn")
    metric = module("torchcp.llm.utils.metrics").SSCL
    return metric(torch.ones(4, 3, device=device), torch.rand(3, device=device))
