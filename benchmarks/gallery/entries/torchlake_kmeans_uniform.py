"""torchlake draws the uniform centroids of k-means on the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="gitE0Z9/pytorch-implementations",
    commit="9f5b595a991e4c90d2588405ff58ef5a0a5d9de9",
    file="torchlake/common/models/kmeans/model.py",
    row=49,
    code="DEV105",
    what='KMeans(init_method="uniform").fit() raises for points on a GPU.',
    expected="must have the same device type",
    raised_at=118,
)


def show(device: str) -> object:
    """Assign points to uniform centroids."""
    stand_in("torch_scatter")
    means = module("torchlake.common.models.kmeans.model", alone=True).KMeans(3, init_method="uniform").to(device)
    points = torch.rand(20, 2, device=device)
    means.init_centroids(points)
    return means.predict(points)
