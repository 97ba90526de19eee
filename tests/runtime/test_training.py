"""Tests of whole training loops on the emulated device, which must compute what runs on the host compute."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from devlint.runtime import emulate, record

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from runtime_models import LAYERS, OPTIMIZERS, Model, Training, difference, train
from runtime_programs import PROGRAMS, compare

TRAININGS = [
    *(Training(model, optimizer) for model in LAYERS for optimizer in OPTIMIZERS),
    *(Training(model, half=half) for model in LAYERS for half in model.halves),
]


@pytest.mark.parametrize("training", TRAININGS, ids=lambda training: training.name)
def test_trains_to_the_same_numbers(training: Training) -> None:
    assert difference(training) == 0.0


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_compute_the_same_numbers_and_show_no_error(program: str, forked: Any) -> None:
    same, operators, codes = forked(lambda: compare(PROGRAMS[program]))
    assert (same, codes) == (True, []) and operators > 0


@pytest.mark.parametrize("model", LAYERS, ids=lambda model: model.name)
def test_recording_changes_no_bit(model: Model) -> None:
    training = Training(model, "adam")
    plain = train(training, "cpu")
    with record() as report:
        recorded = train(training, "cpu")
    assert all(torch.equal(left, right) for left, right in zip(plain, recorded, strict=True))
    assert report.recorder.operators > 50


def test_recording_changes_no_bit_of_an_emulated_run() -> None:
    training = Training(LAYERS[-1], "adamw")
    with emulate():
        bare = train(training, "cuda")
    with emulate(), record():
        recorded = train(training, "cuda")
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
def test_all_patches_are_undone(recorded: bool) -> None:
    before = (torch.Tensor.device, torch.zeros, torch.cuda.is_available, torch.Generator, torch.device, torch.load)
    with emulate(), record() if recorded else nullcontext():
        assert torch.cuda.is_available()
    after = (torch.Tensor.device, torch.zeros, torch.cuda.is_available, torch.Generator, torch.device, torch.load)
    assert before == after
    assert not torch.cuda.is_available() or torch.version.cuda
