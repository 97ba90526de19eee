"""Tests of what is recorded, at which lines, and which findings follow from it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime import Report, emulate, record

pytestmark = pytest.mark.usefixtures("device")


def line_of(report: Report, text: str) -> object:
    return next(cost for cost in report.costs if text in cost.source)


def found(report: Report, code: str) -> list[str]:
    return [d.message for d in report.diagnostics if d.code == code]


def test_transfers_and_waits_are_counted_at_their_lines() -> None:
    with record() as report:
        for _ in range(3):
            near = torch.ones(10).to("cuda")
            near.sum().item()
    up, wait = line_of(report, 'torch.ones(10).to("cuda")'), line_of(report, "near.sum().item()")
    assert (up.transfers, up.nbytes, up.waits) == (3, 120, 0)
    assert (wait.transfers, wait.waits) == (0, 3)


def test_one_hot_waits_only_for_the_number_of_classes() -> None:
    classes = torch.tensor([0, 1, 2], device="cuda")
    with record() as report:
        for _ in range(3):
            torch.nn.functional.one_hot(classes, 5)
        torch.nn.functional.one_hot(classes)
        with pytest.raises(RuntimeError):
            torch.nn.functional.one_hot(classes, 2)
    waits = {cost.source: cost.waits for cost in report.costs if cost.waits}
    assert waits == {"torch.nn.functional.one_hot(classes)": 1}


def test_work_of_libraries_counts_for_the_users_line() -> None:
    with record() as report:
        torch.nn.Linear(4, 4).to("cuda")
    (cost,) = report.costs
    assert cost.source == 'torch.nn.Linear(4, 4).to("cuda")' and cost.transfers == 2


def test_an_error_shows_the_history_of_both_operands() -> None:
    with record() as report:
        weight = torch.zeros(3)
        x = torch.ones(3).cuda()
        with pytest.raises(RuntimeError):
            x * weight
    (error,) = [d for d in report.diagnostics if d.code == "DEV101"]
    messages = [note.message for note in error.trace]
    assert "moved from cpu to cuda:0 by .cuda()" in messages
    assert "`weight`: created on the host by torch.zeros(), which names no device" in messages
    assert error.region.filename == __file__


def test_reading_a_pending_copy_is_poisoned_and_reported() -> None:
    near = torch.arange(4.0, device="cuda")
    with record() as report:
        early = near.to("cpu", non_blocking=True)
        assert early.isnan().all()
        torch.cuda.synchronize()
        assert early.tolist() == [0, 1, 2, 3]
    assert len(found(report, "DEV502")) == 1


@pytest.mark.parametrize("wait", ["event", "stream", "blocking"])
def test_a_wait_completes_the_pending_copy(wait: str) -> None:
    near = torch.arange(4, device="cuda")
    with record() as report:
        late = near.to("cpu", non_blocking=True)
        if wait == "event":
            event = torch.cuda.Event()
            event.record()
            event.synchronize()
        elif wait == "stream":
            torch.cuda.current_stream().synchronize()
        else:
            near.cpu()
        assert late.tolist() == [0, 1, 2, 3]
    assert not found(report, "DEV502")


def test_a_wait_for_another_stream_leaves_the_copy_pending() -> None:
    near, other = torch.ones(4, device="cuda"), torch.cuda.Stream()
    with record() as report:
        early = near.to("cpu", non_blocking=True)
        other.synchronize()
        early.sum()
    assert found(report, "DEV502")


def test_a_pending_copy_that_goes_back_on_the_same_stream_is_fine() -> None:
    near = torch.arange(4, device="cuda")
    with record() as report:
        back = near.to("cpu", non_blocking=True).to("cuda", non_blocking=True)
        assert back.tolist() == [0, 1, 2, 3]
    assert not found(report, "DEV502")


def test_a_pinned_buffer_written_in_flight_is_reported() -> None:
    buffer = torch.zeros(4).pin_memory()
    with record() as report:
        buffer.to("cuda", non_blocking=True)
        buffer.fill_(1.0)
    assert found(report, "DEV504")
    buffer = torch.zeros(4).pin_memory()
    with record() as report:
        near = buffer.to("cuda", non_blocking=True)
        buffer.numpy()[:] = 2.0
        near.sum().item()
    assert found(report, "DEV504")
    with record() as report:
        near = buffer.to("cuda", non_blocking=True)
        torch.cuda.synchronize()
        buffer.fill_(1.0)
    assert not found(report, "DEV504") and near.tolist() == [2.0] * 4


def test_wasteful_transfers_are_reported() -> None:
    with record() as report:
        table = torch.arange(5)
        for _ in range(2):
            table.to("cuda")
        torch.zeros(3).to("cuda")
        torch.from_numpy(np.zeros(3)).to("cuda")
        torch.ones(3).pin_memory().to("cuda")
        host = torch.ones(3, device="cuda").cpu()
        (host + 1).to("cuda")
    assert {"DEV201", "DEV402", "DEV406", "DEV303", "DEV405", "DEV401"} <= report.codes


def test_device_comparisons_that_are_never_true_are_reported() -> None:
    x = torch.ones(1, device="cuda")
    with record() as report:
        assert x.device != torch.device("cuda")
        assert x.device != "cuda"
        assert x.device == torch.device("cuda:0") and x.device.type == "cuda"
    assert len(found(report, "DEV205")) == 2


def test_clocks_read_around_pending_work_are_reported() -> None:
    x = torch.ones(4, device="cuda")
    with record() as report:
        start = time.perf_counter()
        x * 2
        time.perf_counter() - start
    assert found(report, "DEV501")
    with record() as report:
        start = time.perf_counter()
        x * 2
        torch.cuda.synchronize()
        time.perf_counter() - start
    assert not found(report, "DEV501")


def test_changes_through_a_shared_numpy_array_are_reported() -> None:
    with record() as report:
        signal = torch.ones(4)
        signal.cpu().numpy()[:] = 0
        signal.sum()
    assert found(report, "DEV204")
    with record() as report:
        signal = torch.ones(4)
        signal.clone().numpy()[:] = 0
        signal.sum()
    assert not found(report, "DEV204")


def test_tensors_made_in_inference_mode_are_recorded_too() -> None:
    with record() as report, torch.inference_mode():
        near = torch.ones(3).to("cuda")
        for _ in range(2):
            near = torch.ones(3).to("cuda", non_blocking=True) + near
        far = near.to("cpu", non_blocking=True)
        torch.cuda.synchronize()
        array = far.numpy()
        array += 1
        assert far.to("cuda").sum().item() == 12
    assert line_of(report, "non_blocking=True) + near").transfers == 2
    assert not found(report, "DEV402")


def test_promotion_to_float64_is_counted() -> None:
    with record() as report:
        torch.ones(3, device="cuda").double().sum()
    assert sum(line.promotions for line in report.recorder.lines.values()) == 1


def test_nested_recordings_each_see_their_part() -> None:
    with record() as outer:
        torch.ones(2)
        with record() as inner:
            torch.ones(2) + 1
    assert 0 < inner.recorder.operators < outer.recorder.operators


def test_recording_survives_exceptions() -> None:
    with pytest.raises(ZeroDivisionError), record() as report:
        torch.ones(2, device="cuda").cpu()
        1 / 0  # noqa: B018
    assert report.costs and report.recorder.ended is not None


def test_without_a_session_nothing_is_left_behind() -> None:
    with emulate(), record():
        pass
    with record() as report:
        torch.inference_mode(lambda: torch.ones(2).sum())()
    assert report.recorder.operators


def test_float64_of_a_library_is_not_the_users() -> None:
    model = torch.nn.Linear(4, 2)
    with emulate(), record() as report:
        model.cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(model(torch.ones(3, 4, device="cuda")).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        assert not any("float64" in remark for remark in report.remarks)
        torch.nn.functional.softmax(torch.ones(3, device="cuda"), 0, dtype=torch.float64)
    assert sum("float64" in remark for remark in report.remarks) == 1


def test_a_backward_pass_counts_for_its_line_and_a_hook_for_its_own() -> None:
    def scaled(gradient: torch.Tensor) -> torch.Tensor:
        return gradient.cosh()

    x = torch.ones(3, device="cuda", requires_grad=True)
    x.register_hook(scaled)
    with record() as report:
        loss = x.exp().sum()
        loss.backward(retain_graph=True)
        torch.autograd.grad(loss, x)
    lines = {line.site.line: line for line in report.recorder.lines.values()}
    hook, made, first, second = (lines[line] for line in sorted(lines))
    assert hook.operators == {"cosh": 2}
    assert "mul" not in made.operators and made.operators["exp"] == 1
    assert first.operators["mul"] == second.operators["mul"] == 1


class _Names(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_marks_for_the_profiler_are_no_operators_but_a_mode_of_the_program_sees_them() -> None:
    model = torch.nn.Linear(2, 2, device="cuda")
    optimizer = torch.optim.SGD(model.parameters())
    with record() as report:
        optimizer.zero_grad()
        assert report.recorder.operators == 0
        with _Names() as seen:
            optimizer.zero_grad()
    assert any("record_function" in name for name in seen.names)
