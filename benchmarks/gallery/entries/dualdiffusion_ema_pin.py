"""dualdiffusion throws the pinned copy of its EMA weights away."""

from types import SimpleNamespace

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="parlance-zz/dualdiffusion",
    commit="efc00e910479ebb175883ced08c5730478a15499",
    file="src/training/ema.py",
    row=270,
    code="DEV201",
    what="EMA weights that are offloaded to the host stay pageable, although the code means to pin them.",
    expected="pinned: False",
    observed=True,
    inside="src",
)


def show(device: str) -> object:
    """Keep the average of a moved layer on the host."""
    stand_in("librosa", "pyloudnorm", "mutagen", "cv2", "torchaudio", "pyjson5", "dotenv", "tqdm", "safetensors")
    trainer = SimpleNamespace(accelerator=SimpleNamespace(device=torch.device(device)))
    made = module("training.ema", alone=True).EMA_Manager
    ema = made("unet", torch.nn.Linear(2, 2).to(device), {"ema": {"std": 0.1, "cpu_offload": True}}, trainer)
    return f"pinned: {ema.ema_modules['ema'].weight.is_pinned()}"
