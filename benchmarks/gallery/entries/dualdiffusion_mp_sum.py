"""dualdiffusion mixes a float32 with a bfloat16 embedding."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="parlance-zz/dualdiffusion",
    commit="efc00e910479ebb175883ced08c5730478a15499",
    file="src/modules/mp_tools.py",
    row=279,
    code="DEV302",
    what="Running UNet_D1 with its default float32 raises: mp_sum() is given the other embedding in bfloat16.",
    expected="expected dtype",
    on_host_too=True,
    inside="src",
)


def show(device: str) -> object:
    """Mix two embeddings as unet_edm2_d1.py does at row 347."""
    stand_in("librosa", "pyloudnorm", "mutagen", "safetensors", "cv2", "torchaudio", "pyjson5", "dotenv")
    tools = module("modules.mp_tools", alone=True)
    return tools.mp_sum(torch.rand(2, 4, device=device), torch.rand(2, 4, device=device).to(torch.bfloat16), 0.5)
