"""Asteroid's GEVD beamformer adds an identity of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="asteroid",
    commit="0.7.0",
    file="asteroid/dsp/beamforming.py",
    row=305,
    code="DEV105",
    what="The GEVD beamformer cannot be used on a GPU: the identity of its regularisation is made on the host.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Compute beamforming vectors."""
    beamforming = module("asteroid.dsp.beamforming", alone=True)
    scm = torch.eye(2, dtype=torch.complex64, device=device).reshape(1, 2, 2, 1).repeat(1, 1, 1, 3)
    return beamforming.GEVDBeamformer().compute_beamforming_vector(scm, scm)
