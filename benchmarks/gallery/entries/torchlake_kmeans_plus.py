"""torchlake's k-means++ starts with an index on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="gitE0Z9/pytorch-implementations",
    commit="9f5b595a991e4c90d2588405ff58ef5a0a5d9de9",
    file="torchlake/common/models/kmeans/model.py",
    row=58,
    code="DEV105",
    what="KMeans(k).fit() raises for points on a GPU.",
    expected="Expected all tensors to be on the same device",
    raised_at=64,
)


def show(device: str) -> object:
    """Cluster points with the default initialisation."""
    stand_in("torch_scatter")
    net = module("torchlake.common.models.kmeans.model", alone=True)
    net.KMeans(3).init_centroids(torch.rand(20, 2, device=device))
