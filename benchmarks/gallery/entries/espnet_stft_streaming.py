"""ESPnet pads a streamed frame with zeros of the host."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="espnet",
    commit="202511",
    file="espnet2/enh/encoder/stft_encoder.py",
    row=138,
    code="DEV105",
    what="Streaming speech enhancement on a GPU raises at the first frame.",
    expected="Expected all tensors to be on the same device",
)


def show(device: str) -> object:
    """Encode one frame of a stream."""
    stand_in("librosa", "torch_complex", "typeguard", "torchaudio", "soundfile", "humanfriendly", "kaldiio", "scipy")
    encoder = module("espnet2.enh.encoder.stft_encoder").STFTEncoder(n_fft=8, win_length=8, hop_length=4)
    return encoder.to(device).forward_streaming(torch.rand(1, 8, device=device))
