"""The published packages that devlint is measured on, unpacked where they can be read."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Final

VERSIONS: Final = {"timm": "1.0.31", "accelerate": "1.15.0", "lightning": "2.6.6", "torchmetrics": "1.9.0"}
"""What the figures of this folder were taken from."""

MORE: Final = {
    "allennlp": "2.10.1",
    "basicsr": "1.3.3.3",
    "botorch": "0.18.1",
    "byol_pytorch": "0.9.1",
    "captum": "0.9.0",
    "dalle_pytorch": "1.6.6",
    "deepctr_torch": "0.3.0",
    "denoising_diffusion_pytorch": "2.3.4",
    "diffusers": "0.42.1",
    "e3nn": "0.6.0",
    "efficientnet_pytorch": "0.3.0",
    "facenet_pytorch": "2.6.0",
    "flair": "0.15.1",
    "foolbox": "3.3.4",
    "geomloss": "0.3.1",
    "gfpgan": "1.3.8",
    "gpytorch": "1.15.2",
    "kornia": "0.9.0",
    "kornia_moons": "0.3.0",
    "lightly": "1.6.0",
    "lightning_bolts": "0.7.0",
    "lpips": "0.1.4",
    "monai": "1.6.1",
    "nflows": "0.14",
    "normflows": "1.7.3",
    "open_clip_torch": "3.3.0",
    "peft": "0.21.2",
    "performer_pytorch": "1.1.4",
    "piq": "0.8.0",
    "pykeen": "1.11.1",
    "pyro_ppl": "1.9.2",
    "pytorch_forecasting": "1.8.0",
    "pytorch_metric_learning": "2.9.0",
    "pytorch_msssim": "1.0.0",
    "pytorch_pretrained_bert": "0.6.2",
    "pytorch_tabnet": "4.1.0",
    "pytorch_transformers": "1.2.0",
    "pytorchvideo": "0.1.5",
    "recbole": "1.2.1",
    "reformer_pytorch": "1.4.4",
    "segmentation_models_pytorch": "0.6.0",
    "sentence_transformers": "6.2.0",
    "snntorch": "1.0.0",
    "speechbrain": "1.1.2",
    "stable_baselines3": "2.9.2",
    "stylegan2_pytorch": "1.9.0",
    "tianshou": "2.0.1",
    "torch_fidelity": "0.4.0",
    "torch_geometric": "2.8.1",
    "torchattacks": "3.5.1",
    "torchdiffeq": "0.2.5",
    "torchio": "1.2.1",
    "torchkge": "0.17.7",
    "torchsde": "0.2.6",
    "tsai": "1.0.1",
    "ultralytics": "8.4.190",
    "vector_quantize_pytorch": "1.32.0",
    "vit_pytorch": "1.26.11",
    "x_transformers": "2.31.10",
}
"""Packages of many kinds that devlint was not made with, small and old ones among them."""

SOURCES_ONLY: Final = frozenset({"nflows", "normflows", "pytorchvideo"})
"""Those of them that are published as source archives alone."""


def wheel(name: str, folder: Path) -> Path:
    """The wheel (or the source archive) of a package in a folder, downloaded if it is not there."""
    version = {**VERSIONS, **MORE}[name]
    source = name in SOURCES_ONLY
    pattern = f"{name}-{version}.tar.gz" if source else f"{name}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        kind = "--no-binary=:all:" if source else "--only-binary=:all:"
        download = ["pip", "download", "-q", "--no-deps", kind, f"{name}=={version}"]
        subprocess.run([sys.executable, "-m", *download, "-d", str(folder)], check=True)
    return next(folder.glob(pattern))


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a wheel or a source archive; the folder that its files are named in."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel_file:
            wheel_file.extractall(folder)
        return folder
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def unpacked(name: str, folder: Path) -> Path:
    """The sources of a package: `folder/NAME`, downloaded and unpacked there unless they lie there already."""
    place = folder / name
    if not place.is_dir():
        unpack(wheel(name, folder), folder)
    return place
