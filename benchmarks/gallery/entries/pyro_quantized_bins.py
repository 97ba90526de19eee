"""Pyro makes the exponents of the 16-bin spline on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pyro_ppl",
    commit="1.9.2",
    file="pyro/contrib/epidemiology/util.py",
    row=320,
    code="DEV105",
    what="compute_bin_probs(num_quant_bins=16) raises for a tensor on a GPU, while fewer bins work.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Compute the probabilities of 16 bins."""
    stand_in("tqdm")
    util = module("pyro.contrib.epidemiology.util")
    return util.compute_bin_probs(torch.rand(4, device=device), num_quant_bins=16)
