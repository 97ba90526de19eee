"""ESPnet throws the moved mask of its discriminator away."""

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="espnet",
    commit="202511",
    file="espnet2/uasr/discriminator/conv_discriminator.py",
    row=162,
    code="DEV201",
    what="The discriminator on a GPU raises for a mask of the host, which it means to move.",
    expected="Expected all tensors to be on the same device",
    raised_at=171,
)


def show(device: str) -> object:
    """Judge a padded batch whose mask lies on the host."""
    stand_in("humanfriendly", "typeguard")
    made = module("espnet2.uasr.discriminator.conv_discriminator", alone=True).ConvDiscriminator(4, conv_channels=8)
    mask = torch.tensor([[False, False, True], [False, True, True]])
    return made.to(device)(torch.rand(2, 3, 4, device=device), mask)
