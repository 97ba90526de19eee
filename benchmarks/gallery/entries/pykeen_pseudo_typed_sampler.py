"""PyKEEN keeps the offsets of PseudoTypedNegativeSampler as a plain tensor."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pykeen",
    commit="1.11.1",
    file="pykeen/sampling/pseudo_type.py",
    row=87,
    code="DEV103",
    what="A sampler that was moved to a GPU raises for a batch there, because .to() leaves its index on the host.",
    expected="indices should be either on cpu or on the same device as the indexed tensor",
    raised_at=98,
)


def show(device: str) -> object:
    """Corrupt a batch on the device."""
    stand_in("pystow", "docdata", "pandas")
    triples = torch.tensor([[0, 0, 1], [1, 0, 2], [2, 1, 0]])
    sampler = module("pykeen.sampling.pseudo_type").PseudoTypedNegativeSampler(mapped_triples=triples)
    return sampler.to(device).corrupt_batch(triples.to(device))
