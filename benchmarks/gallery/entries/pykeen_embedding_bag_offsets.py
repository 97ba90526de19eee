"""PyKEEN puts a zero of the host before the offsets of an embedding bag."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="pykeen",
    commit="1.11.1",
    file="pykeen/nn/representation.py",
    row=2257,
    code="DEV105",
    what="EmbeddingBagRepresentation on a GPU raises for any indices.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Ask a moved representation for two vectors."""
    stand_in(
        "sklearn",
        "tabulate",
        "more_click",
        "tqdm",
        "torch_max_mem",
        "docdata",
        "pandas",
        "pystow",
        "requests",
        "more_itertools",
        "torch_ppr",
    )
    made = module("pykeen.nn.representation").EmbeddingBagRepresentation(torch.tensor([[0, 0], [1, 1]]), shape=(4,))
    return made.to(device)(torch.tensor([0, 1], device=device))
