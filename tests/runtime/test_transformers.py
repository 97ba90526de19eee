"""Tiny models of the transformers library, forward and backward: the same numbers as on the host, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from devlint.runtime import emulate

transformers = pytest.importorskip("transformers")

Inputs = Callable[[str], dict[str, Any]]


def _bert() -> tuple[Any, Inputs]:
    config = transformers.BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    model = transformers.BertForSequenceClassification(config).eval()
    return model, lambda device: {"input_ids": _ids().to(device), "labels": torch.tensor([0, 1]).to(device)}


def _gpt2() -> tuple[Any, Inputs]:
    config = transformers.GPT2Config(
        vocab_size=50, n_embd=16, n_layer=2, n_head=2, n_positions=16, bos_token_id=0, eos_token_id=1
    )
    ids = _ids()
    return transformers.GPT2LMHeadModel(config).eval(), lambda device: {
        "input_ids": ids.to(device),
        "labels": ids.to(device),
    }


def _vit() -> tuple[Any, Inputs]:
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=8, patch_size=4
    )
    return transformers.ViTForImageClassification(config), _images(8)


def _resnet() -> tuple[Any, Inputs]:
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1])
    return transformers.ResNetForImageClassification(config), _images(16)


def _ids() -> torch.Tensor:
    return torch.randint(2, 50, (2, 7))


def _images(side: int) -> Inputs:
    return lambda device: {
        "pixel_values": torch.randn(2, 3, side, side).to(device),
        "labels": torch.tensor([0, 1]).to(device),
    }


def _train(build: Callable[[], tuple[Any, Inputs]], device: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model, inputs = build()
    model.to(device)
    loss = model(**inputs(device)).loss
    loss.backward()
    return [loss.detach().cpu(), *(p.grad.cpu() for p in model.parameters() if p.grad is not None)]


@pytest.mark.parametrize("build", [_bert, _gpt2, _vit, _resnet])
def test_tiny_model(build: Callable[[], tuple[Any, Inputs]]) -> None:
    plain = _train(build, "cpu")
    with emulate():
        emulated = _train(build, "cuda")
    assert all(torch.equal(left, right) for left, right in zip(plain, emulated, strict=True))
