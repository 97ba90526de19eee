"""The published packages that devlint is measured on: their versions, and functions that download and unpack them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Final

VERSIONS: Final = {"timm": "1.0.31", "accelerate": "1.15.0", "lightning": "2.6.6", "torchmetrics": "1.9.0"}
"""The four large packages of the default measurements."""

LARGE: Final = {"transformers": "5.24.0"}
"""The large library on which time and memory are measured besides."""

FIRST_SAMPLE: Final = {
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
"""The first sample: packages of many kinds, small and old ones among them, that devlint was not developed with."""

SECOND_SAMPLE: Final = {
    "adversarial_robustness_toolbox": "1.20.1",
    "alphafold3_pytorch": "0.8.3",
    "anomalib": "2.7.0",
    "asteroid": "0.7.0",
    "audiocraft": "1.3.0",
    "audiolm_pytorch": "2.4.0",
    "avalanche_lib": "0.6.0",
    "bert_score": "0.3.13",
    "catalyst": "21.5",
    "cellpose": "4.2.1.1",
    "chgnet": "0.4.2",
    "clip_interrogator": "0.6.0",
    "coqui_tts": "0.28.0",
    "d3rlpy": "2.8.1",
    "darts": "0.48.1",
    "deepchem": "2.8.0",
    "deepxde": "1.15.0",
    "demucs": "4.1.0",
    "descript_audio_codec": "1.0.0",
    "egnn_pytorch": "0.2.8",
    "ema_pytorch": "0.8.3",
    "encodec": "0.1.1",
    "enformer_pytorch": "0.8.12",
    "espnet": "202511",
    "facexlib": "0.3.0",
    "fair_esm": "2.0.0",
    "fairscale": "0.4.13",
    "fairseq": "0.12.2",
    "fastai": "2.8.12",
    "fvcore": "0.1.5.post20221221",
    "geoopt": "0.5.1",
    "gluonts": "0.17.0",
    "higher": "0.2.1",
    "imagen_pytorch": "2.1.0",
    "julius": "0.2.8",
    "kymatio": "0.3.0",
    "learn2learn": "0.2.0",
    "litgpt": "0.5.13",
    "mace_torch": "0.3.16",
    "matgl": "4.1.2",
    "mmdet": "3.3.0",
    "mmengine": "0.10.7",
    "mmpretrain": "1.2.0",
    "mosaicml": "0.32.1",
    "muse_maskgit_pytorch": "0.3.5",
    "musiclm_pytorch": "0.2.8",
    "nemo_toolkit": "3.0.0",
    "neuralforecast": "3.3.0",
    "neuraloperator": "2.0.0",
    "nnunetv2": "2.8.1",
    "ogb": "1.3.6",
    "opacus": "1.6.0",
    "open_flamingo": "2.0.1",
    "openai_whisper": "20250625",
    "optimum": "2.3.0",
    "palm_rlhf_pytorch": "0.8.0",
    "perceiver_pytorch": "0.11.0",
    "pfrl": "0.1.0",
    "pretrainedmodels": "0.7.4",
    "ptlflow": "0.4.2",
    "pyannote_audio": "4.0.7",
    "pytorch_ignite": "0.5.5",
    "pytorch_optimizer": "4.1.0",
    "pytorch_tabular": "1.2.0",
    "pytorch_widedeep": "1.7.0",
    "pytorchcv": "0.0.74",
    "realesrgan": "0.3.0",
    "rl_games": "1.6.5",
    "rotary_embedding_torch": "0.9.1",
    "sbi": "0.27.0",
    "schnetpack": "2.1.1",
    "scvi_tools": "1.4.2",
    "segment_anything": "1.0",
    "setfit": "1.2.0",
    "simpletransformers": "0.70.8",
    "skorch": "1.4.0",
    "stanza": "1.15.0",
    "tab_transformer_pytorch": "0.6.1",
    "tabpfn": "9.2.0",
    "tensordict": "0.15.3",
    "torch_audiomentations": "0.12.0",
    "torch_optimizer": "0.3.0",
    "torchani": "2.9.0",
    "torchao": "0.18.0",
    "torchcp": "1.2.1",
    "torchgeo": "0.8.1",
    "torchinfo": "1.8.0",
    "torchquantum": "0.1.8",
    "torchrec": "1.9.2",
    "torchrl": "0.14.1",
    "torchtune": "0.6.1",
    "torchxrayvision": "1.5.7",
    "trl": "1.16.0",
    "yolov5": "7.0.14",
    "zuko": "1.6.0",
}
"""The second sample: packages of the same sort, taken after devlint had been improved with the first sample."""

SOURCES_ONLY: Final = frozenset(
    "nflows normflows pytorchvideo audiocraft encodec fairscale fairseq fvcore learn2learn openai_whisper"
    " pretrainedmodels".split()
)
"""The packages that are published as source archives only."""


def wheel(name: str, folder: Path) -> Path:
    """Return the path of a package's wheel (or source archive) in a folder; download it if it is missing."""
    version = {**VERSIONS, **LARGE, **FIRST_SAMPLE, **SECOND_SAMPLE}[name]
    source = name in SOURCES_ONLY
    pattern = f"{name}-{version}.tar.gz" if source else f"{name}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        kind = "--no-binary=:all:" if source else "--only-binary=:all:"
        download = ["pip", "download", "-q", "--no-deps", kind, f"{name}=={version}"]
        subprocess.run([sys.executable, "-m", *download, "-d", str(folder)], check=True)
    return next(folder.glob(pattern))


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack a wheel or a source archive; return the folder to which the file names in findings are relative."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel_file:
            wheel_file.extractall(folder)
        return folder
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def unpacked_package(name: str, folder: Path) -> Path:
    """Return the folder with the sources of a package, `folder/NAME`; download and unpack them if they are missing."""
    place = folder / name
    if not place.is_dir():
        unpack(wheel(name, folder), folder)
    return place
