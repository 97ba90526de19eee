"""Tests of the verdicts on static findings when the program runs."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.runtime.configured_linter import ConfiguredLinter
from devlint.runtime.program_runner import RunRequest, run_program

DEMO = Path(__file__).parents[2] / "fixtures" / "demo"

Verdicts = dict[tuple[str, str, int], str]
Run = Callable[..., Verdicts]


@pytest.fixture
def run(forked: Callable[[Callable[[], Any]], Any], tmp_path: Path) -> Run:
    """Run a program, and return the verdict on each finding by its code, file and line."""

    def played(source: str | Path, *arguments: str, keep_going: bool = False, device: str = "emulated") -> Verdicts:
        program = source if isinstance(source, Path) else tmp_path / "program.py"
        if isinstance(source, str):
            program.write_text(source, encoding="utf-8")

        def child() -> Verdicts:
            os.chdir(program.parent)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                request = RunRequest(program.name, False, arguments, device=device, keep_going=keep_going)
                _, report = run_program(request, ConfiguredLinter())
            return {
                (found.code, Path(found.region.filename).name, found.region.start.row): " ".join(
                    [outcome.verdict.value, outcome.detail][: 1 + (outcome.verdict.value == "not-reached")]
                ).strip()
                for outcome in report.outcomes
                for found in [outcome.diagnostic]
            }

        verdicts: Verdicts = forked(child)
        return verdicts

    return played


def test_the_bug_that_ends_the_demo_is_confirmed_and_no_other(run: Run) -> None:
    verdicts = run(DEMO / "train.py")
    assert verdicts.pop(("DEV103", "model.py", 12)) == "confirmed"
    assert verdicts.pop(("DEV105", "model.py", 15)) == "not-reached an error ended this line before"
    assert verdicts.pop(("DEV102", "train.py", 31)) == "not-reached an error ended this line before"
    assert verdicts and all(verdict.startswith("not-reached ") for verdict in verdicts.values())


def test_keep_going_confirms_all_bugs(run: Run) -> None:
    verdicts = run(DEMO / "train.py", keep_going=True)
    for place in (
        ("DEV103", "model.py", 12),
        ("DEV105", "model.py", 15),
        ("DEV201", "train.py", 16),
        ("DEV102", "train.py", 17),
        ("DEV102", "train.py", 31),
        ("DEV106", "train.py", 37),
    ):
        assert verdicts[place] == "confirmed", place
    assert ("DEV101", "train.py", 33) not in verdicts  # the backward pass of what was repaired is no bug of its own
    assert verdicts["DEV501", "train.py", 36] == "observed"


DEVICE_ASKED_FOR = """\
import sys
import torch

device = torch.device("cuda" if "--gpu" in sys.argv else "cpu")
x = torch.ones(3, device="cuda").to(device)
for _ in range(2):
    y = torch.zeros(3).to(device)
print((x + y).sum().item())
"""


def test_a_run_on_the_host_says_nothing_of_the_accelerator(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["DEV406"]\n', encoding="utf-8")
    place = ("DEV406", "program.py", 7)
    assert run(DEVICE_ASKED_FOR)[place] == "not-reached this line ran on the host only"
    assert run(DEVICE_ASKED_FOR, "--gpu")[place] == "confirmed"


MADE_BEFORE = """\
import sys
import torch


def mix(x, scaled):
    half = torch.full((3,), 0.5)
    return x * half if scaled else half + 1


print(mix(torch.ones(3, device="cuda"), "--scaled" in sys.argv).sum().item())
"""


def test_the_line_that_ran_on_the_host_is_named(run: Run) -> None:
    assert run(MADE_BEFORE)["DEV105", "program.py", 6] == "not-reached line 7 ran on the host only"
    assert run(MADE_BEFORE.replace("half + 1", "x + 1"))["DEV105", "program.py", 6] == (
        "not-reached line 7 ran, but never with operands on different devices"
    )
    assert run(MADE_BEFORE, "--scaled")["DEV105", "program.py", 6] == "confirmed"


NOTHING_TO_MOVE = """\
import torch

table = torch.arange(4.0, device="cuda")
for step in range(3):
    near = table.to("cuda")
    print((near + step).sum().item())
"""


def test_a_transfer_that_moves_nothing_confirms_that_it_is_redundant(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["DEV407"]\n', encoding="utf-8")
    assert run(NOTHING_TO_MOVE)["DEV407", "program.py", 5] == "confirmed"


TRAINED = """\
import torch

model = torch.nn.Linear(3, 1).cuda()

def train(batches):
    for batch in batches:
        loss = model(batch.cuda()).mean()
        loss.backward()
        print(loss.item())

train(torch.rand(4, 2, 3))
"""


def test_a_wait_in_each_training_step_is_confirmed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('select = ["DEV403"]\n', encoding="utf-8")
    assert run(TRAINED) == {("DEV403", "program.py", 9): "confirmed"}


PER_SAMPLE = """\
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.full((3,), float(index)).to("cuda")

table = torch.rand(8, 3, device="cuda")

def run():
    for batch in DataLoader(Rows(), batch_size=2):
        print(batch.shape, table[torch.randperm(8)].shape)

run()
"""


def test_a_transfer_of_each_sample_and_an_index_of_the_host_are_confirmed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('select = ["DEV408", "DEV410"]\n', encoding="utf-8")
    assert run(PER_SAMPLE) == {
        ("DEV408", "program.py", 9): "confirmed",
        ("DEV410", "program.py", 15): "confirmed",
    }


GUARDED = """\
import sys
import torch

x = torch.ones(3, device="cuda")
if len(sys.argv) > 1:
    print((x + torch.ones(3)).sum().item())
"""


def test_a_line_that_did_not_run_is_not_reached(run: Run) -> None:
    assert run(GUARDED)["DEV101", "program.py", 6] == "not-reached this line did not run"
    assert run(GUARDED, "now")["DEV101", "program.py", 6] == "confirmed"


WASTEFUL = """\
import torch

x = torch.zeros(3).to("cuda")
y = torch.zeros(3).to("cuda")  # noqa: DEV406
optimizer = torch.optim.SGD([x.requires_grad_()], 0.1)
for _ in range(4):
    (x + y).sum().item()
    optimizer.step()
"""


def test_the_configuration_of_the_project_holds(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["DEV406"]\n', encoding="utf-8")
    assert run(WASTEFUL) == {("DEV406", "program.py", 3): "confirmed", ("DEV403", "program.py", 7): "observed"}
    (tmp_path / "devlint.toml").write_text('ignore = ["DEV406"]\n', encoding="utf-8")
    assert run(WASTEFUL) == {("DEV403", "program.py", 7): "observed"}
    (tmp_path / "devlint.toml").write_text('select = ["DEV1"]\n', encoding="utf-8")
    assert not run(WASTEFUL)


FINE = """\
import torch

x = torch.ones(3, device="cuda")
y = OTHER
print((x + y).sum().item())
"""


def test_only_what_ran_with_the_claimed_operands_without_harm_is_refuted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = Region(str(tmp_path / "program.py"), Position(5, 8), Position(5, 13))
    claim = Diagnostic(
        "DEV101", "mixed-device-op", Severity.ERROR, Confidence.CERTAIN, "they cannot be combined", region
    )
    monkeypatch.setattr(ConfiguredLinter, "findings", lambda self, files, **_: [claim])
    place = ("DEV101", "program.py", 5)
    assert run(FINE.replace("OTHER", "torch.tensor(1.0)"))[place] == "refuted"
    assert run(FINE.replace("OTHER", "torch.ones(3)"))[place] == "confirmed"
    assert run(FINE.replace("OTHER", "torch.ones(3, device='cuda')"))[place] == (
        "not-reached this line ran, but never with operands on different devices"
    )


CAUGHT = """\
import torch

x = torch.ones(3, device="cuda")
try:
    x.numpy()
except TypeError:
    pass
try:
    torch.ones(3, device="cuda:7")
except RuntimeError:
    pass
try:
    raise ValueError("all tensors must be on the same device")
except ValueError:
    pass
"""


def test_an_error_that_the_program_catches_is_seen(run: Run) -> None:
    verdicts = run(CAUGHT)
    assert verdicts["DEV106", "program.py", 5] in ("confirmed", "observed")
    assert verdicts["DEV112", "program.py", 9] == "observed"
    assert not [place for place in verdicts if place[2] == 13]


TWO_ON_A_LINE = """\
import torch

x = torch.ones(3, device="cuda")
for step in range(4):
    print(x.sum().item() if step < 1 else 0, x.mean().item())
"""


def test_evidence_is_counted_by_expression(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [Region(str(tmp_path / "program.py"), Position(5, 11), Position(5, 25))]
    places.append(Region(str(tmp_path / "program.py"), Position(5, 46), Position(5, 61)))
    claims = [
        Diagnostic("DEV403", "sync-in-loop", Severity.WARNING, Confidence.CERTAIN, "the host waits", place)
        for place in places
    ]
    monkeypatch.setattr(ConfiguredLinter, "findings", lambda self, files, **_: claims)
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(TWO_ON_A_LINE, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        _, report = run_program(RunRequest("program.py", False, (), device="emulated"), ConfiguredLinter())
    counts = [outcome.count for outcome in report.outcomes if outcome.verdict.value == "confirmed"]
    assert counts == [1, 4]


MADE_ON_A_LINE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.ones(3), torch.ones(3)

    def forward(self, x, both: bool = False):
        if both:
            x = x + self.one
        return x + self.two


net = Net().cuda()
net(torch.ones(3).cuda())
"""


def test_of_tensors_made_on_one_line_only_the_one_that_failed_is_confirmed(tmp_path: Path) -> None:
    for source, verdicts in (
        (MADE_ON_A_LINE, {"self.one": "not-reached", "self.two": "confirmed"}),
        (MADE_ON_A_LINE.replace("bool = False", "bool = True"), {"self.one": "confirmed", "self.two": "not-reached"}),
    ):
        program = tmp_path / "program.py"
        program.write_text(source, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            _, report = run_program(RunRequest(str(program), False, (), device="emulated"), ConfiguredLinter())
        found = {
            one.diagnostic.message.split("`")[1]: one.verdict.value
            for one in report.outcomes
            if one.diagnostic.code == "DEV103"
        }
        assert found == verdicts


CASTS = """\
import torch

x = torch.ones(3, device="cuda", requires_grad=True)
x.detach()
x.double()
y = x.detach()
print(y.sum().item())
"""


def test_a_cast_whose_result_is_dropped_is_seen(run: Run) -> None:
    verdicts = run(CASTS)
    assert verdicts["DEV201", "program.py", 4] == verdicts["DEV201", "program.py", 5] == "confirmed"
    assert ("DEV201", "program.py", 6) not in verdicts


TIED_TO_CUDA = """\
import sys
import torch

device = torch.accelerator.current_accelerator()

def free():
    torch.cuda.empty_cache()

def wait():
    torch.cuda.synchronize()

def timed():
    return torch.cuda.Event(enable_timing=True)

def name():
    return torch.accelerator.get_device_name(0)

def chosen():
    if torch.accelerator.is_available():
        return torch.zeros(3, device="cuda:0")

def double():
    return torch.ones(3, device="mps" if torch.backends.mps.is_available() else "cpu").double()

free()
print(torch.ones(3, device=device).sum().item())
globals()[sys.argv[1]]()
"""
FREED = ("DEV605", "program.py", 7)


@pytest.mark.parametrize("device", ["emulated:xpu", "emulated:mps", "emulated:npu"])
@pytest.mark.parametrize(
    ("function", "place"),
    [
        ("wait", ("DEV605", "program.py", 10)),
        ("timed", ("DEV605", "program.py", 13)),
        ("name", ("DEV608", "program.py", 16)),
        ("chosen", ("DEV606", "program.py", 20)),
    ],
)
def test_a_run_without_cuda_confirms_what_ties_a_program_to_it(
    run: Run, tmp_path: Path, device, function, place
) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["PORTABILITY", "DEV605"]\n', encoding="utf-8")
    verdicts = run(TIED_TO_CUDA, function, device=device)
    confirmed = {one for one, verdict in verdicts.items() if verdict == "confirmed"}
    assert confirmed == {FREED, place}


def test_a_run_with_cuda_confirms_nothing_that_works_there(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["PORTABILITY"]\n', encoding="utf-8")
    for function in ("wait", "timed", "double"):
        assert "confirmed" not in run(TIED_TO_CUDA, function).values()
    assert run(TIED_TO_CUDA, "name")["DEV608", "program.py", 16] == "confirmed"


def test_a_dtype_that_the_backend_lacks_is_confirmed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["PORTABILITY"]\n', encoding="utf-8")
    place = ("DEV609", "program.py", 23)
    assert run(TIED_TO_CUDA, "double", device="emulated:mps")[place] == "confirmed"
    assert run(TIED_TO_CUDA, "double", device="emulated:xpu")[place].startswith("not-reached")


WITHOUT_OTHERS = """\
import os
import sys
import torch
import torch.distributed as dist

def typed():
    return torch.accelerator.current_accelerator().type

def group():
    dist.init_process_group("nccl", rank=0, world_size=1, init_method="file://" + os.path.abspath("store"))
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")

if "later" in sys.argv:
    torch.accelerator.current_accelerator = lambda check_available=False: torch.device("cpu")
    dist.init_process_group = lambda *args, **options: None
globals()[sys.argv[1]]()
"""
TYPED, GROUP = ("DEV607", "program.py", 7), ("DEV610", "program.py", 10)


def test_a_missing_accelerator_is_confirmed_where_there_is_none(run: Run) -> None:
    assert run(WITHOUT_OTHERS, "typed", device="cpu")[TYPED] == "confirmed"
    assert run(WITHOUT_OTHERS, "typed", "later", device="cpu")[TYPED] == "refuted"
    for device in ("emulated:cuda", "emulated:xpu"):
        assert run(WITHOUT_OTHERS, "typed", device=device)[TYPED].startswith("not-reached")


def test_a_backend_for_cuda_is_confirmed_where_there_is_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('extend-select = ["PORTABILITY"]\n', encoding="utf-8")
    for device in ("cpu", "emulated:xpu"):
        assert run(WITHOUT_OTHERS, "group", device=device)[GROUP] == "confirmed"
        assert run(WITHOUT_OTHERS, "group", "later", device=device)[GROUP] == "refuted"
        assert run(WITHOUT_OTHERS, "typed", device=device)[GROUP].startswith("not-reached")
    assert run(WITHOUT_OTHERS, "group", device="emulated:cuda")[GROUP].startswith("not-reached")
