"""The beam search of the captioning tutorial divides indexes to floats."""

import sys
from types import SimpleNamespace

import numpy as np
import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in

ENTRY = Bug(
    project="sgrvinod/a-PyTorch-Tutorial-to-Image-Captioning",
    commit="cc9c7e2f4017938d414178d3781fed8dbe442852",
    file="caption.py",
    row=111,
    code="DEV305",
    what="No image can be captioned with torch 1.5 or later: the quotient of two integers is no index.",
    expected="tensors used as indices must be long",
    on_host_too=True,
)


def show(device: str) -> object:
    """Caption an image with a small decoder; the image and its encoding are made up."""
    stand_in("torchvision", "matplotlib", "skimage", "PIL")
    image = np.zeros((256, 256, 3))
    # what scipy had until its version 1.2
    sys.modules["scipy.misc"] = SimpleNamespace(imread=lambda _: image, imresize=lambda *_: image)
    caption = module("caption")
    decoder = module("models").DecoderWithAttention(4, 4, 4, vocab_size=5, encoder_dim=6).to(device)
    words = {"<start>": 0, "<end>": 1, "a": 2, "b": 3, "c": 4}
    encoding = torch.rand(1, 2, 2, 6, device=device)
    return caption.caption_image_beam_search(lambda _: encoding, decoder, "image.png", words)
