"""Pyro selects the rows of a Hessian with an index of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pyro_ppl",
    commit="1.9.2",
    file="pyro/contrib/oed/glmm/guides.py",
    row=151,
    code="DEV105",
    what="LinearModelLaplaceGuide on a GPU raises when it computes the Hessian at the end of its fit.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Compute the diagonal of a Hessian."""
    stand_in("tqdm")
    mean = torch.ones(2, 3, device=device, requires_grad=True)
    return module("pyro.contrib.oed.glmm.guides").LinearModelLaplaceGuide._hessian_diag((mean**2).sum(), mean, (3,))
