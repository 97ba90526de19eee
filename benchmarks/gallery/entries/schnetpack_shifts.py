"""SchNetPack asks a legacy constructor for a tensor on the GPU."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="schnetpack",
    commit="2.1.1",
    file="schnetpack/transform/neighborlist.py",
    row=490,
    code="DEV105",
    what="TorchNeighborList raises for structures on a GPU: torch.Tensor makes tensors of the host only.",
    expected="legacy constructor expects device type: cpu",
)


def show(device: str) -> object:
    """Compute the shifts of a periodic cell."""
    stand_in(
        "ase",
        "matscipy",
        "dirsync",
        "hydra",
        "lightning",
        "pytorch_lightning",
        "torchmetrics",
        "h5py",
        "tqdm",
        "vesin",
        "scipy",
        "fasteners",
        "omegaconf",
        "progressbar",
    )
    net = module("schnetpack.transform.neighborlist", alone=True)
    pbc = torch.tensor([True, True, False], device=device)
    return net.TorchNeighborList(2.0)._get_shifts(torch.eye(3, device=device), pbc, 2.0)
