"""PyG's PGMExplainer scales perturbations with noise of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="torch_geometric",
    commit="2.8.1",
    file="torch_geometric/contrib/explain/pgm_explainer.py",
    row=103,
    code="DEV105",
    what="PGMExplainer(is_perturbation_scaled=True) raises for features on a GPU.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Perturb the features of one node."""
    stand_in("aiohttp", "fsspec", "requests", "psutil", "pyparsing", "tqdm", "xxhash")
    explainer = module("torch_geometric.contrib.explain").PGMExplainer(is_perturbation_scaled=True)
    return explainer._perturb_features_on_nodes(torch.rand(3, 2, device=device), torch.tensor([0], device=device))
