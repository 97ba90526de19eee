"""Asteroid makes the default mask of compute_scm() on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="asteroid",
    commit="0.7.0",
    file="asteroid/dsp/beamforming.py",
    row=347,
    code="DEV105",
    what="compute_scm() without a mask raises for a signal on a GPU.",
    expected="Expected all tensors to be on the same device",
    raised_at=352,
)


def show(device: str) -> object:
    """Compute a covariance without a mask."""
    beamforming = module("asteroid.dsp.beamforming", alone=True)
    return beamforming.compute_scm(torch.ones(1, 2, 3, 4, dtype=torch.complex64, device=device))
