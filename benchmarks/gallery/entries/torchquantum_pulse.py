"""TorchQuantum keeps the sample points of a Gaussian pulse as a plain tensor."""

from gallery_bug import Bug
from gallery_imports import module

ENTRY = Bug(
    project="torchquantum",
    commit="0.1.8",
    file="torchquantum/pulse/pulses.py",
    row=196,
    code="DEV103",
    what="QuantumPulseGaussian cannot be used on a GPU: its parameters move, its sample points do not.",
    expected="Expected all tensors to be on the same device",
    raised_at=219,
)


def show(device: str) -> object:
    """Compute the evolution of a moved pulse."""
    pulses = module("torchquantum.pulse.pulses", alone=True)
    return pulses.QuantumPulseGaussian([[0, 1], [1, 0]]).to(device).get_unitary()
