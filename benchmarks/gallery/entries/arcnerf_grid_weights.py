"""ArcNerf makes the permutation of grid corners on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="TencentARC/ArcNerf",
    commit="7fb6a81e1748a23ae2ffde16aab5cc3bb3f7b594",
    file="arcnerf/geometry/volume.py",
    row=190,
    code="DEV105",
    what=(
        "Volume.cal_weights_to_grid_pts() raises for points on a GPU, while its sister methods move the permutation."
    ),
    expected="Expected all tensors to be on the same device",
    raised_at=480,
)


def show(device: str) -> object:
    """Weigh the corners of the cells that hold two points."""
    stand_in("pytorch3d")
    volume = module("arcnerf.geometry.volume").Volume(n_grid=2, side=1.0).to(device)
    return volume.cal_weights_to_grid_pts(torch.rand(2, 3, device=device), torch.rand(2, 8, 3, device=device))
