"""Whole training loops on the emulated device: they run, and compute what plain host runs compute."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import nn

from devlint.runtime import emulate, record


class Sequence(nn.Module):
    """A recurrent layer and a head."""

    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.layer = kind(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[0][:, -1])


class Attention(nn.Module):
    """A transformer encoder and a head."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(6, 2, 12, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(x).mean(1))


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "linear": (lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3)), (4, 6)),
    "conv": (
        lambda: nn.Sequential(
            nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3)
        ),
        (4, 2, 6, 6),
    ),
    "lstm": (lambda: Sequence(nn.LSTM), (4, 5, 6)),
    "gru": (lambda: Sequence(nn.GRU), (4, 5, 6)),
    "transformer": (Attention, (4, 5, 6)),
}
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adam, fused": lambda p: torch.optim.Adam(p, lr=0.01, fused=True),
    "adam, one by one": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
}


def train(model_name: str, optimizer_name: str, device: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    build, shape = MODELS[model_name]
    model = build().to(device)
    optimizer = OPTIMIZERS[optimizer_name](model.parameters())
    data = [(torch.randn(shape), torch.randint(0, 3, (shape[0],))) for _ in range(3)]
    losses = []
    for x, y in data:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach().cpu())
    return [*losses, *(p.detach().cpu() for p in model.parameters())]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", MODELS)
def test_trains_to_the_same_numbers(model: str, optimizer: str) -> None:
    plain = train(model, optimizer, "cpu")
    with emulate():
        emulated = train(model, optimizer, "cuda")
    for left, right in zip(plain, emulated, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_recording_changes_no_bit(model: str) -> None:
    plain = train(model, "adam", "cpu")
    with record() as report:
        recorded = train(model, "adam", "cpu")
    assert all(torch.equal(left, right) for left, right in zip(plain, recorded, strict=True))
    assert report.recorder.operators > 50


def test_recording_changes_no_bit_of_an_emulated_run() -> None:
    with emulate():
        bare = train("transformer", "adamw", "cuda")
    with emulate(), record():
        recorded = train("transformer", "adamw", "cuda")
    assert all(torch.equal(left, right) for left, right in zip(bare, recorded, strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_mixed_precision_follows_the_list_of_cuda(dtype: torch.dtype, device: torch.device) -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 3)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=dtype is torch.float16)
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=dtype):
            hidden = model[0](torch.randn(4, 6, device=device))
            assert hidden.dtype is dtype
            assert model[1](hidden).dtype is torch.float32
            assert hidden.softmax(-1).dtype is torch.float32
            assert hidden.exp().dtype is torch.float32
            loss = model(torch.randn(4, 6, device=device)).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert all(p.dtype is torch.float32 and p.device == device for p in model.parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.ones(2, 2, dtype=torch.bfloat16).softmax(-1).dtype is torch.bfloat16


def test_host_autocast_is_as_before() -> None:
    with emulate(), torch.autocast("cuda"):
        torch.ones(2, 2, device="cuda").softmax(-1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.ones(2, 2, dtype=torch.bfloat16).exp().dtype is torch.bfloat16


@pytest.mark.parametrize("recorded", [False, True])
def test_everything_is_put_back(recorded: bool) -> None:
    before = (torch.Tensor.device, torch.zeros, torch.cuda.is_available, torch.Generator, torch.device, torch.load)
    with emulate(), record() if recorded else nullcontext():
        assert torch.cuda.is_available()
    after = (torch.Tensor.device, torch.zeros, torch.cuda.is_available, torch.Generator, torch.device, torch.load)
    assert before == after
    assert not torch.cuda.is_available() or torch.version.cuda
