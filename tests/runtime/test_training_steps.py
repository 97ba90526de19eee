"""Tests of the training steps that a recording finds, of the waits in each, and of DEV403."""

from __future__ import annotations

import linecache
from typing import Any

import pytest
import torch
from torch import nn

from devlint.runtime import Report, emulate, record

pytestmark = pytest.mark.usefixtures("device")


def training(device: Any) -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor]:
    model = nn.Linear(3, 1).to(device)
    return model, torch.optim.SGD(model.parameters(), 0.1), torch.ones(2, 3, device=device)


def waiting_lines(report: Report) -> list[str]:
    found = [d for d in report.diagnostics if d.code == "DEV403"]
    return [report_line(d.region.filename, d.region.start.row) for d in found]


def report_line(filename: str, row: int) -> str:
    return linecache.getline(filename, row).strip()


@pytest.mark.parametrize("early", [True, False])
def test_a_wait_in_each_training_step_is_reported(device: Any, early: bool) -> None:
    model, optimizer, x = training(device)
    with record() as report:
        for _ in range(6):
            loss = model(x).mean()
            loss.backward()
            if early:
                loss.item()
            optimizer.step()
            if not early:
                loss.item()
    (found,) = [d for d in report.diagnostics if d.code == "DEV403"]
    assert "in every training step, for `item()` (6 times)" in found.message
    assert (
        found.help
        == "read the values only every N steps, or collect them on the accelerator and read them after the loop"
    )
    steps = report.waits_per_step
    assert steps is not None and (steps.steps, steps.median, steps.most) == (5, 1, 1)


def test_a_copy_to_the_host_is_a_wait_unless_it_does_not_block(device: Any) -> None:
    model, optimizer, x = training(device)
    with record() as report:
        for _ in range(4):
            out = model(x)
            out.mean().backward()
            optimizer.step()
            out.detach().cpu()
            out.detach().to("cpu", non_blocking=True)
    assert waiting_lines(report) == ["out.detach().cpu()"]
    assert report.waits_per_step is not None and report.waits_per_step.median == 1


def test_a_wait_now_and_then_is_not_reported(device: Any) -> None:
    model, optimizer, x = training(device)
    with record() as report:
        for _ in range(3):
            for step in range(12):
                loss = model(x).mean()
                loss.backward()
                optimizer.step()
                if step % 4 == 0:
                    loss.item()
            for _ in range(30):
                model(x).mean().item()
    assert not waiting_lines(report)
    steps = report.waits_per_step
    assert steps is not None and steps.median == 0 and steps.most == 30


def test_a_loop_that_does_not_train_has_no_steps(device: Any) -> None:
    model, _, x = training(device)
    with record() as report:
        for _ in range(10):
            model(x).mean().item()
    assert not waiting_lines(report) and report.waits_per_step is None
    assert report.costs[0].waits == 10


def test_a_wait_of_a_library_counts_but_is_not_the_programs(device: Any) -> None:
    model, optimizer, x = training(device)
    scaler = torch.amp.GradScaler("cuda")
    with record() as report:
        for _ in range(5):
            optimizer.zero_grad()
            scaler.scale(model(x).mean()).backward()
            scaler.step(optimizer)
            scaler.update()
    assert not waiting_lines(report)
    assert report.waits_per_step is not None and report.waits_per_step.median >= 1


def test_optimizers_that_take_turns_step_in_one_training_step(device: Any) -> None:
    _, first, x = training(device)
    _, second, _ = training(device)
    with record() as report:
        for _ in range(4):
            first.step()
            x.sum().item()
            second.step()
            x.sum().item()
    assert report.waits_per_step is not None
    assert (report.waits_per_step.steps, report.waits_per_step.median) == (3, 2)
    assert len(waiting_lines(report)) == 2


def test_the_last_recording_leaves_no_hook_behind() -> None:
    with emulate(), record() as report:
        pass
    _, optimizer, _ = training("cuda")
    optimizer.step()
    assert report.recorder.steps.index == 0
