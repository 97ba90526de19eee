"""Tests of what `pytest --devlint` says of a suite: what ran where, and what was not emulated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]


def suite(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Write a project and run its test suite with devlint's plugin and pytest-xdist."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    plugins = ("-p", "devlint.runtime.pytest_plugin", "-p", "xdist", "-p", "no:cacheprovider")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", *plugins, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


CONFTEST = """\
import pytest
import torch

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param
"""
PACKAGE = """\
import torch


def twice(x):
    return x * 2


def ones():
    return torch.ones(3) + 1


class Shift:
    def by(self, x):
        return x + torch.zeros(2)


def passes_on(x):
    return twice(x)
"""
TESTS = """\
import torch
from shapes import Shift, ones, passes_on, twice


def test_twice(device):
    assert twice(torch.ones(3, device=device)).device.type == device


def test_ones():
    assert passes_on(ones()).sum() == 12


def test_shift():
    assert Shift().by(torch.ones(2)).sum() == 2
"""
SUITE = {"conftest.py": CONFTEST, "shapes.py": PACKAGE, "test_shapes.py": TESTS}


def coverage(folder: Path) -> dict[str, Any]:
    """Return the device coverage in the report that a suite has written."""
    return dict(json.loads((folder / "out.json").read_text(encoding="utf-8"))["device_coverage"])


def test_the_device_is_there_before_conftest_is_imported(tmp_path: Path) -> None:
    done = suite(tmp_path, SUITE)
    assert "3 passed" in done.stdout
    done = suite(tmp_path, SUITE, "--devlint", "--devlint-no-lint")
    assert "4 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_device_coverage_tells_which_functions_saw_the_accelerator(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = suite(tmp_path, SUITE, "--devlint", "--devlint-no-lint", "--devlint-report", "out.json", *workers)
    assert "so did 1 of 3 functions that ran any (33 %), in 1 of 1 files" in done.stdout, done.stdout
    assert "1 of 3  shapes.py; only on the host: ones, Shift.by" in done.stdout
    assert "operators on 1 emulated cuda, 33 % of functions on the accelerator\n" in done.stdout
    found = coverage(tmp_path)
    (file,) = found["files"]
    assert file["filename"] == "shapes.py"
    assert [(one["name"], one["line"], one["device_operators"] > 0) for one in file["functions"]] == [
        ("twice", 4, True),
        ("ones", 8, False),
        ("Shift.by", 13, False),
    ]
    assert [file["filename"] for file in found["test_files"]] == ["test_shapes.py"]


def test_a_suite_that_never_uses_the_accelerator_is_told_so(tmp_path: Path) -> None:
    done = suite(tmp_path, SUITE, "--devlint", "--devlint-report", "out.html", "-k", "not cuda")
    assert "3 passed" in done.stdout
    assert "nothing was ever on the accelerator: " in done.stdout and "of functions on" not in done.stdout
    assert "nothing was ever on the accelerator: " in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_function_in_which_devices_met_has_seen_the_accelerator(tmp_path: Path) -> None:
    tests = "import torch\nfrom shapes import Shift\ndef test():\n    Shift().by(torch.ones(2, device='cuda'))\n"
    done = suite(tmp_path, {"shapes.py": PACKAGE, "test_it.py": tests}, "--devlint")
    assert done.returncode == 1 and "so did 1 of 1 functions" in done.stdout


def test_the_option_takes_no_path(tmp_path: Path) -> None:
    more = {**SUITE, "test_more.py": "def test_more():\n    pass\n"}
    done = suite(tmp_path, more, "--devlint", "test_more.py", "--devlint-no-lint")
    assert done.returncode == 0 and "1 passed" in done.stdout and "device coverage: no operator ran" in done.stdout
    done = suite(tmp_path, more, "--devlint=test_more.py")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR and "--devlint=emulated:xpu" in done.stderr


NOT_EMULATED = """\
import torch


def test_parallel():
    try:
        torch.nn.DataParallel(torch.nn.Linear(2, 2).cuda(), device_ids=[0, 1])
    except NotImplementedError as error:
        raise ValueError("no") from error


def test_other():
    raise NotImplementedError("no")
"""
AT_IMPORT = """\
import torch
nested = torch.nested.nested_tensor([torch.ones(2)], device="cuda", layout=torch.jagged)
"""


def test_what_is_not_emulated_is_skipped_with_its_reason(tmp_path: Path) -> None:
    done = suite(tmp_path, {"test_it.py": NOT_EMULATED, "test_import.py": AT_IMPORT}, "--devlint")
    assert "1 failed, 2 skipped" in done.stdout, done.stdout
    assert "SKIPPED [1] test_it.py:6: devlint does not emulate torch.nn.DataParallel" in done.stdout
    assert "SKIPPED [1] test_import.py:2: devlint does not emulate nested tensors of the jagged layout" in done.stdout


HIDDEN = """\
import math

import torch

SIZE = 3


class Table:
    def __init__(self):
        self.rows = {"a": torch.ones(SIZE)}

    def unrelated(self):
        return math.pi

    def added(self, x):
        return x + eval("self.rows")["a"]


def unused(x):
    return x
"""
OF_HIDDEN = """\
import torch
from hidden import Table


def test_added():
    Table().added(torch.ones(3, device="cuda"))
"""


def test_errors_that_only_the_run_shows_are_exported(tmp_path: Path) -> None:
    files = {"hidden.py": HIDDEN, "test_hidden.py": OF_HIDDEN}
    done = suite(tmp_path, files, "--devlint", "--devlint-export-cases", "cases")
    assert "devlint: 1 case written to cases" in done.stdout, done.stdout
    case = tmp_path / "cases" / "DEV101-hidden-added-16"
    program = (case / "program.py").read_text(encoding="utf-8")
    seen = json.loads((case / "seen.json").read_text(encoding="utf-8"))
    assert (seen["code"], seen["raised"]) == ("DEV101", "RuntimeError")
    assert program.splitlines()[seen["row"] - 1].strip() == 'return x + eval("self.rows")["a"]'
    assert "SIZE = 3" in program and "def test_added" in program
    assert not any(text in program for text in ("unrelated", "unused", "math", "from hidden"))
    again = subprocess.run(
        [sys.executable, "-c", "exec(open('program.py').read()); test_added()"],
        cwd=case,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Torch not compiled with CUDA enabled" in again.stderr, "the program needs nothing but torch"


CAUGHT = """\
import pytest
import torch


def fails(x):
    return x + torch.zeros(3)


def test_error():
    with pytest.raises(RuntimeError):
        fails(torch.ones(3, device="cuda"))
"""


def test_only_errors_that_the_baseline_does_not_know_count(tmp_path: Path) -> None:
    def status(tests: str, *options: str) -> int:
        return suite(tmp_path, {"test_it.py": tests}, "--devlint", "--devlint-no-lint", *options).returncode

    known = ("--devlint-baseline", "known.json", "--devlint-exit-on", "new")
    missing = suite(tmp_path, {"test_it.py": CAUGHT}, "--devlint", "--devlint-no-lint", *known)
    assert missing.returncode == pytest.ExitCode.USAGE_ERROR
    assert missing.stderr == "ERROR: known.json: no such file; --devlint-update-baseline makes it\n\n"
    assert status(CAUGHT, "--devlint-exit-on", "any") == 1
    assert status(CAUGHT, "--devlint-baseline", "known.json", "--devlint-update-baseline") == 0
    assert status("import torch\n" + CAUGHT, *known) == 0
    more = CAUGHT.replace("x + torch.zeros(3)", "x * torch.zeros(3)")
    done = suite(tmp_path, {"test_it.py": more}, "--devlint", "--devlint-no-lint", *known)
    assert done.returncode == 1 and "--devlint-exit-on: DEV101 test_it.py:6" in done.stdout, done.stdout
    assert status(CAUGHT, "--devlint-exit-on", "new") == pytest.ExitCode.USAGE_ERROR


TRAINING = """\
import torch

def test_training():
    model = torch.nn.Linear(3, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        loss = model(torch.rand(2, 3, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_waits_in_the_training_steps_of_workers_are_counted(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = suite(tmp_path, {"test_it.py": TRAINING}, "--devlint", "--devlint-no-lint", *workers)
    assert "DEV403" in done.stdout, done.stdout


KEEPS = """\
import torch
from torch import nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(3) + 1

    def forward(self, x):
        return x + self.table
"""
MOVES = "import torch\nfrom net import Shift\ndef test(): Shift().to('cuda')(torch.ones(3, device='cuda'))\n"
REGISTERS = KEEPS.replace("self.table = torch.zeros(3) + 1", 'self.register_buffer("table", torch.zeros(3) + 1)')


@pytest.mark.parametrize(
    ("options", "title"),
    [((), "DEV103 at {0}:11, reported at net.py:8\n"), (("--devlint-no-lint",), "DEV101 at {0}:11\n")],
)
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_failure_names_the_finding_that_the_summary_names(
    tmp_path: Path, workers: tuple[str, ...], options: tuple[str, ...], title: str
) -> None:
    done = suite(tmp_path, {"net.py": KEEPS, "test_net.py": MOVES}, "--devlint", *options, *workers)
    title = title.format(tmp_path / "net.py")
    assert title in done.stdout and f"error[{title[:6]}]" in done.stdout
    assert "DEV101" not in done.stdout or title.startswith("DEV101")


def test_constructors_do_not_count_as_functions_that_stayed_on_the_host(tmp_path: Path) -> None:
    more = "def on_host(x):\n    return x * 2\n"
    tests = MOVES + "from net import on_host\ndef test_more(): on_host(torch.ones(3))\n"
    files = {"net.py": f"{REGISTERS}\n\n{more}", "kept.py": KEEPS.replace("Shift", "Kept"), "test_net.py": tests}
    files["test_net.py"] += "from kept import Kept\ndef test_kept(): Kept()\n"
    done = suite(tmp_path, files, "--devlint", "--devlint-no-lint")
    assert "so did 1 of 2 functions that ran any (50 %), in 1 of 1 files" in done.stdout, done.stdout
    assert "1 of 2  net.py; only on the host: on_host\n" in done.stdout and "__init__" not in done.stdout


def test_a_suite_of_which_nothing_ran_has_no_result(tmp_path: Path) -> None:
    fine = {"test_net.py": "def test_nothing(): pass\n"}
    done = suite(tmp_path, fine, "--devlint")
    assert "devlint: no errors, 0 operators" in done.stdout and "no test was run" not in done.stdout
    done = suite(tmp_path, {**fine, "test_broken.py": "import no_such_module_at_all\n"}, "--devlint")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "devlint: no test was run\n" in done.stdout and "no errors" not in done.stdout
