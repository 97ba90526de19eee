"""Muse throws the moved text embedding away."""

from types import SimpleNamespace

import torch
from gallery_bug import Bug
from gallery_imports import module, stand_in
from torch import nn

ENTRY = Bug(
    project="muse_maskgit_pytorch",
    commit="0.3.5",
    file="muse_maskgit_pytorch/t5.py",
    row=98,
    code="DEV201",
    what='t5_encode_text(output_device="cpu") returns the embedding on the GPU.',
    expected="the text is on cuda:0",
    observed=True,
)


class Encoder(nn.Embedding):
    """Stands in for the downloaded encoder."""

    def forward(self, input_ids, attention_mask):
        """Embed the tokens."""
        return SimpleNamespace(last_hidden_state=super().forward(input_ids))


def tokenize(*_, **__):
    """Return one text of two tokens."""
    return SimpleNamespace(input_ids=torch.tensor([[1, 2]]), attention_mask=torch.ones(1, 2))


def show(device: str) -> object:
    """Encode a text for the host with a small encoder in the cache."""
    stand_in("beartype", "transformers")
    t5 = module("muse_maskgit_pytorch.t5", alone=True)
    t5.T5_CONFIGS["small"] = {"model": Encoder(3, 4), "tokenizer": SimpleNamespace(batch_encode_plus=tokenize)}
    return f"the text is on {t5.t5_encode_text(['text'], name='small', output_device='cpu').device}"
