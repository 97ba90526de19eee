"""Tests of `--keep-going`: what comes after an error, and what may be its consequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from devlint.runtime import Report, emulate, record
from devlint.runtime.configured_linter import ConfiguredLinter
from devlint.runtime.going_on import going_on
from devlint.runtime.program_runner import RunRequest, run_program

DROPPED = """\
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(4, 5).to("cuda")
data = [(torch.ones(4), torch.tensor(1)) for _ in range(12)]
for x, labels in DataLoader(data, batch_size=4, pin_memory=True):
    labels.to("cuda", non_blocking=True)
    torch.nn.functional.cross_entropy(model(x.to("cuda")), labels)
"""
USED_TWICE = """\
import numpy as np
import torch
import torch.nn.functional as F
near, far = torch.ones(1, 1, 2, device="cuda"), torch.ones(1, 1, 2, device="cuda")
signal = torch.from_numpy(np.zeros((1, 1, 8))).to("cuda")
for _ in range(3):
    coarse = F.conv1d(signal, near)
    for _ in range(2):
        fine = F.conv1d(signal, far)
"""


@pytest.fixture
def report() -> Iterator[Report]:
    """Record the test on an emulated device, and go on after errors."""
    with emulate() as session, going_on(session), record() as report:
        yield report


def on_device(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(*shape, dtype=dtype, device="cuda")


def whole(*shape: int) -> torch.Tensor:
    return on_device(*shape, dtype=torch.int64)


HALF, DOUBLE = torch.float16, torch.float64
FAILING: list[tuple[str, Callable[[], object]]] = [
    ("DEV101", lambda: on_device(2) + torch.ones(2)),
    ("DEV302", lambda: on_device(2, 2, dtype=HALF) @ on_device(2, 2)),
    ("DEV302", lambda: nn.Linear(2, 2, device="cuda")(on_device(2, 2, dtype=DOUBLE))),
    ("DEV302", lambda: nn.Conv1d(1, 1, 1, device="cuda")(on_device(1, 1, 2, dtype=DOUBLE))),
    ("DEV302", lambda: F.conv1d(on_device(1, 1, 2, dtype=DOUBLE), on_device(1, 1, 1))),
    ("DEV101", lambda: F.conv1d(on_device(1, 1, 2), torch.ones(1, 1, 1))),
    ("DEV302", lambda: F.scaled_dot_product_attention(*(on_device(1, 2, 2, dtype=d) for d in (HALF, DOUBLE, HALF)))),
    ("DEV302", lambda: on_device(2).index_add_(0, whole(1), on_device(1, dtype=DOUBLE))),
    ("DEV304", lambda: F.cross_entropy(on_device(2, 3), on_device(2))),
    ("DEV304", lambda: F.binary_cross_entropy(on_device(2) / 2, target=whole(2))),
    ("DEV305", lambda: nn.Embedding(3, 2, device="cuda")(on_device(2))),
    ("DEV305", lambda: on_device(3)[on_device(2)]),
    ("DEV305", lambda: on_device(2, 2).gather(0, index=on_device(1, 2))),
    ("DEV305", lambda: torch.where(on_device(3), on_device(3), on_device(3))),
    ("DEV106", lambda: on_device(2).numpy()),
    ("DEV117", lambda: torch.ones(2, requires_grad=True).numpy()),
    ("DEV108", lambda: nn.utils.rnn.pack_padded_sequence(on_device(1, 1, 1), whole(1))),
    ("DEV109", lambda: torch.randn(2, generator=torch.Generator(), device="cuda")),
    ("DEV109", lambda: on_device(2).normal_(generator=torch.Generator())),
    ("DEV110", lambda: on_device(2).pin_memory()),
    ("DEV110", lambda: torch.ones(2, device="cuda", pin_memory=True)),
]


@pytest.mark.parametrize(("code", "work"), FAILING)
def test_the_error_is_recorded_once_and_the_program_goes_on(
    report: Report, code: str, work: Callable[[], object]
) -> None:
    assert work() is not None
    errors = [outcome for outcome in report.outcomes if outcome.fatal]
    assert [(outcome.diagnostic.code, outcome.count) for outcome in errors] == [(code, 1)]
    assert not errors[0].after_going_on


@pytest.mark.parametrize(("code", "work"), FAILING)
def test_without_keep_going_the_error_ends_the_program(code: str, work: Callable[[], object]) -> None:
    with emulate(), pytest.raises((RuntimeError, TypeError, IndexError)):
        work()


def test_what_no_rule_is_about_still_fails(report: Report) -> None:
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        on_device(2, 3) @ on_device(2, 3)
    assert not report.failed


def test_a_model_trains_on_with_the_dtype_of_its_parameters(report: Report) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    data = torch.from_numpy(np.ones((4, 3))).to("cuda").requires_grad_()
    loss = model(data).mean()
    loss.backward()
    optimizer.step()
    assert loss.dtype is torch.float32
    assert data.grad is not None and data.grad.dtype is torch.float64
    assert {outcome.diagnostic.code for outcome in report.outcomes if outcome.fatal} == {"DEV301"}


def test_an_error_after_going_on_may_be_a_consequence(report: Report) -> None:
    mixed = on_device(2) + torch.ones(2)
    mixed * torch.ones(2)
    on_device(2) * torch.ones(2)
    first, later, other = [outcome for outcome in report.outcomes if outcome.fatal]
    assert (first.after_going_on, later.after_going_on, other.after_going_on) == (False, True, False)
    (step,) = [note for note in later.diagnostic.trace if "went on here after the error (DEV101)" in note.message]
    assert step.region.start.row == first.diagnostic.region.start.row
    text = "".join(report.full())
    assert text.startswith("devlint: 2 crashes, 1 error after going on, ")
    assert text.count("it may be a consequence") == 1
    assert report.json().count('"after_going_on": true') == 1


def test_what_is_mended_at_each_step_does_not_grow_a_history(report: Report) -> None:
    total = on_device(2)
    for _ in range(20):
        total = total + torch.ones(2)
    (outcome,) = [outcome for outcome in report.outcomes if outcome.fatal]
    steps = [note for note in outcome.diagnostic.trace if "went on here" in note.message]
    assert outcome.count == 20 and len(steps) <= 1


def test_what_devlint_moves_to_go_on_is_not_counted(report: Report) -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    (on_device(2, 2) @ weight).sum().backward()
    on_device(2).numpy()
    nn.utils.rnn.pack_padded_sequence(on_device(1, 1, 1), whole(1))
    assert weight.grad is not None and weight.grad.device.type == "cpu"
    assert [(cost.transfers, cost.waits) for cost in report.costs] == []
    assert report.failed


def test_what_the_program_moves_itself_is_counted(report: Report) -> None:
    scale = torch.tensor(2.0, requires_grad=True)
    (on_device(2) * scale).sum().backward()
    on_device(2).cpu().numpy()
    assert [(cost.transfers, cost.waits) for cost in report.costs] == [(1, 1), (1, 1)]
    assert not report.failed


def test_an_error_that_follows_is_not_the_finding_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch from pinned memory is moved by a statement that drops the result, and then meets the model's output."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(DROPPED, encoding="utf-8")
    outcome = run_program(
        RunRequest("train.py", False, (), "emulated", keep_going=True), ConfiguredLinter(isolated=True)
    )[1].outcomes
    counts = {(one.diagnostic.code, one.diagnostic.region.start.row): one.count for one in outcome if one.fatal}
    assert counts == {("DEV201", 6): 3, ("DEV101", 7): 3}


def test_one_mistake_is_counted_at_the_place_where_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A convolution on the device refuses float64 from NumPy, and so does the one after it: that is one dtype error."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(USED_TWICE, encoding="utf-8")
    _, report = run_program(
        RunRequest("train.py", False, (), "emulated", keep_going=True), ConfiguredLinter(isolated=True)
    )
    errors = [one for one in report.outcomes if one.fatal]
    assert [(one.diagnostic.code, one.count) for one in errors] == [("DEV301", 3)]
    assert errors[0].place is not None and errors[0].place.start.row == 7
    assert "".join(report.full()).startswith("devlint: 1 crash, ")


def test_the_memory_of_a_run_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process has kept on the device from before does not count as memory of a run."""
    monkeypatch.chdir(tmp_path)
    Path("empty.py").write_text("import torch\n", encoding="utf-8")
    Path("full.py").write_text("import torch\nx = torch.ones(1024, device='cuda')\n", encoding="utf-8")
    with emulate():
        kept = on_device(4096)
    empty, full = (
        run_program(RunRequest(program, False, (), "emulated"), ConfiguredLinter(isolated=True))[1].peak
        for program in ("empty.py", "full.py")
    )
    assert (empty, full) == (0, 4096)
    del kept
