"""Tests of the report as text: what is said first, what is folded, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.runtime import Report, emulate, record
from devlint.runtime.text_report import MOST_ERRORS, MOST_LINES

pytestmark = pytest.mark.usefixtures("device")

Play = Callable[..., Report]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run a program from a file on the emulated device, and return the report."""
    monkeypatch.chdir(tmp_path)

    def played(source: str, name: str = "program.py", **namespace: Any) -> Report:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        with emulate(), record() as report:
            exec(compile(source, str(path), "exec"), {"torch": torch, **namespace})
        report.see_all = "--all"
        return report

    return played


def lines(report: Report, **options: Any) -> list[str]:
    return "".join(report.full(**options)).splitlines()


MIXED = """\
for _ in range(3):
    x = torch.zeros(3).to("cuda")
try:
    x + torch.ones(3)
except RuntimeError:
    pass
"""


def test_the_first_line_sums_up_and_errors_come_first(play: Play) -> None:
    shown = lines(play(MIXED))
    assert shown[0].startswith("devlint: 1 crash, 1 thing worth doing, ")
    assert shown[2] == "── errors ──" and shown[3].startswith("error[DEV101] mixed-device-op: RuntimeError")
    (site,) = [line for line in shown if "DEV406" in line]
    assert site == (
        "warning[DEV406] create-then-transfer: program.py:2:9 (3 times): "
        "12 bytes are created on the host only to be moved"
    )


def test_a_terminal_need_not_break_a_word(play: Play) -> None:
    report = play(MIXED)
    narrow = lines(report, columns=40)
    prose = narrow[: narrow.index(next(line for line in narrow if line.startswith("transfers by line")))]
    assert all(len(line) <= 40 for line in prose)
    assert " ".join(narrow).split() == " ".join(lines(report)).split()


def test_nothing_found_is_said(play: Play) -> None:
    assert lines(play("torch.ones(2, device='cuda')"))[0] == "devlint: no errors, 1 operator"


@pytest.mark.parametrize(
    "used",
    [
        "torch.ones(2, device='cuda')",
        "torch.ones(2).to('cuda')",
        "torch.nn.Linear(2, 2).cuda()",
        "exec(compile('torch.ones(2).cuda()', '<string>', 'exec'))",
    ],
)
def test_a_run_that_used_the_accelerator_is_not_said_to_have_stayed_on_the_host(play: Play, used: str) -> None:
    assert "nothing was ever" not in "\n".join(lines(play(f"torch.ones(2)\n{used}\n")))


def test_a_run_that_stayed_on_the_host_proves_nothing(play: Play) -> None:
    shown = lines(play("torch.ones(2) + torch.ones(2)"))
    said = "nothing was ever on the emulated cuda: 3 operators ran on the host"
    assert shown[0] == f"devlint: no errors, but {said}"
    assert shown[-1] == f"devlint: {said}; findings: none"


def test_a_run_without_operators_says_no_more_than_that(play: Play) -> None:
    assert lines(play("pass"))[0] == "devlint: no errors, 0 operators"


def test_findings_that_were_not_seen_are_counted(play: Play) -> None:
    report = play("if False:\n    torch.ones(2)\n")
    place = Region("program.py", Position(2, 5), Position(2, 9))
    report.findings = [
        Diagnostic("DEV101", "mixed-device-op", Severity.ERROR, Confidence.LIKELY, "x", place, fingerprint="f")
    ]
    assert lines(report)[0].startswith("devlint: no errors, 1 static finding not seen, ")


def test_what_is_wasted_once_is_only_an_information(play: Play) -> None:
    once = 'x = torch.zeros(3).to("cuda")\n'
    assert any(line.startswith("info[DEV406]") for line in lines(play(once)))
    again = "for _ in range(2):\n    " + once
    assert any(line.startswith("warning[DEV406]") for line in lines(play(again)))


def test_an_error_without_an_exception_is_no_crash(play: Play) -> None:
    shown = lines(play('x = torch.ones(2)\nx.to("cuda")\n'))
    assert shown[0].startswith("devlint: 1 silent error, ")


def test_what_one_line_does_several_times_is_one_line(play: Play) -> None:
    source = 'for _ in range(2):\n    a, b = torch.zeros(3).to("cuda"), torch.ones(5).to("cuda")\n'
    (site,) = [line for line in lines(play(source)) if "DEV406" in line]
    assert "program.py:2:12 (4 times)" in site


def test_long_lists_are_cut_and_the_cut_is_said(play: Play) -> None:
    source = 'x = torch.zeros(3).to("cuda")\n' * (MOST_LINES + 3)
    report = play(source)
    shown = lines(report)
    assert sum("DEV406" in line for line in shown) == MOST_LINES
    assert "... and 3 more sites" in shown and "... and 3 more lines" in shown
    assert "note: --all shows everything" in shown
    shown = lines(report, everything=True)
    assert sum("DEV406" in line for line in shown) == MOST_LINES + 3
    assert not any(line.startswith(("...", "note: --all")) for line in shown)


def test_errors_are_cut_as_well(play: Play) -> None:
    failing = "try:\n    y + torch.ones(3)\nexcept RuntimeError:\n    pass\n"
    shown = lines(play('y = torch.ones(3, device="cuda")\n' + failing * (MOST_ERRORS + 2)))
    assert shown[0].startswith(f"devlint: {MOST_ERRORS + 2} crashes, ")
    assert sum(line.startswith("error[DEV101]") for line in shown) == MOST_ERRORS
    assert "... and 2 more errors" in shown


LIBRARY = 'def move():\n    return torch.zeros(3).to("cuda")\n'


def test_tests_are_set_apart(play: Play) -> None:
    names: dict[str, Any] = {"torch": torch}
    exec(compile(LIBRARY, str(Path.cwd() / "library.py"), "exec"), names)
    Path("library.py").write_text(LIBRARY, encoding="utf-8")
    report = play('move()\nmove()\ny = torch.ones(3).to("cuda")\n', "tests/test_it.py", move=names["move"])
    shown = lines(report)
    assert shown[0].startswith("devlint: no errors, 1 thing worth doing, 1 in test files, ")
    assert "... and 1 more line in test files" in shown
    apart = shown.index("── in test files ──")
    assert shown[apart + 1].startswith("info[DEV406] create-then-transfer: tests/test_it.py:3")
    assert "library.py:2" in shown[shown.index("── worth doing ──") + 1]


def test_a_test_that_is_run_itself_is_not_set_apart(play: Play) -> None:
    shown = lines(play('y = torch.ones(3).to("cuda")\n', "test_it.py"))
    assert "── worth doing ──" in shown and "── in test files ──" not in shown


COSTS = """\
big = torch.ones(300, device="cuda")
small = torch.ones(100).to("cuda")
for _ in range(3):
    small.sum().item()
big.cpu()
"""


def test_transfers_are_ranked_by_bytes_and_waits_by_waits(play: Play) -> None:
    shown = lines(play(COSTS))
    moved = shown.index("transfers by line: 2 transfers, 1.6 kB")
    assert [line.split()[:2] for line in shown[moved + 2 : moved + 4]] == [["75", "%"], ["25", "%"]]
    assert shown[moved + 2].endswith("program.py:5  big.cpu()")
    waited = shown.index("waits by line: 4 waits")
    assert [line.split()[:3] for line in shown[waited + 2 : waited + 4]] == [["75", "%", "3"], ["25", "%", "1"]]
    assert shown[waited + 2].endswith("program.py:4  small.sum().item()")
