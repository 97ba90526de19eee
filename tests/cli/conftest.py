"""A stand-in for the analysis: it finds what comments in the checked files tell it to find."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

import devlint.cli.check_run  # imported before its names are patched, so that they are restored
from devlint import cli
from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.interpreter.state.failures import InternalError
from devlint.linter.analysis_report import AnalysisReport
from devlint.linter.progress import Progress, no_progress
from devlint.rule import Rule
from devlint.rule_metadata import RuleMetadata

MARK = re.compile(rb"# (BUG|CRASH) ?([A-Z]+\d+)? ?(\w+)?")


class MixedDeviceOp(Rule):
    """Operands lie on two devices.

    ## Why is this bad?
    PyTorch refuses it.
    """

    code: ClassVar[str] = "DEV101"
    name: ClassVar[str] = "mixed-device-op"
    severity: ClassVar[Severity] = Severity.ERROR


class DiscardedTransfer(Rule):
    """The result of a transfer is thrown away."""

    code: ClassVar[str] = "DEV201"
    name: ClassVar[str] = "discarded-transfer"
    severity: ClassVar[Severity] = Severity.ERROR
    fixable: ClassVar[bool] = True


class SharedStorageMutation(Rule):
    """Two tensors share memory."""

    code: ClassVar[str] = "DEV204"
    name: ClassVar[str] = "shared-storage-mutation"
    severity: ClassVar[Severity] = Severity.WARNING
    default: ClassVar[bool] = False


class UnreadableFile(Rule):
    """A file could not be read."""

    code: ClassVar[str] = "DEV900"
    name: ClassVar[str] = "unreadable-file"
    severity: ClassVar[Severity] = Severity.ERROR


class RevealedPlacement(Rule):
    """The answer to `reveal_placement`."""

    code: ClassVar[str] = "DEV902"
    name: ClassVar[str] = "revealed-placement"
    severity: ClassVar[Severity] = Severity.INFO


RULES: tuple[type[Rule], ...] = (
    MixedDeviceOp,
    DiscardedTransfer,
    SharedStorageMutation,
    UnreadableFile,
    RevealedPlacement,
)


def analyse_files(
    paths: Sequence[Path],
    *,
    codes: frozenset[str],
    src: Sequence[Path] = (),
    models: Sequence[Path] = (),
    stdin: tuple[str, bytes] | None = None,
    progress: Progress = no_progress,
    names: Mapping[Path, str] | None = None,
    texts: Mapping[Path, bytes] | None = None,
    cache: object = None,
    jobs: int = 1,
    files_below: object = None,
    shard: object = None,
    timed: bool = False,
) -> AnalysisReport:
    held = {(names or {}).get(path, str(path)): (texts or {}).get(path) or path.read_bytes() for path in paths}
    if stdin:
        held[stdin[0]] = stdin[1]
    by_code = {rule.code: rule for rule in RULES}
    diagnostics, errors = [], []
    for name, text in sorted(held.items()):
        for row, line in enumerate(text.split(b"\n"), 1):
            for kind, code, confidence in MARK.findall(line):
                if kind == b"CRASH":
                    errors.append(InternalError(name, "f", "ValueError: oops", "Traceback: oops"))
                elif code.decode() in codes:
                    rule = by_code[code.decode()]
                    region = Region(name, Position(row, 1), Position(row, 4))
                    sure = Confidence(confidence.decode() or "certain")
                    diagnostics.append(
                        Diagnostic(rule.code, rule.name, rule.severity, sure, f"{code.decode()} here", region)
                    )
    return AnalysisReport(tuple(diagnostics), tuple(errors), (), len(held))


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def found(self) -> list[str]:
        """`file:row CODE` of each line of the concise format."""
        return [re.sub(r"^(.*:\d+):\d+: (\w+) .*$", r"\1 \2", line) for line in self.out.splitlines()]


@pytest.fixture
def devlint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Runs devlint in an empty directory, with the stand-in for the analysis."""
    module = ModuleType("devlint.linter.program_analysis")
    vars(module).update(analyse_files=analyse_files)
    monkeypatch.setitem(sys.modules, "devlint.linter.program_analysis", module)
    metadata = tuple(RuleMetadata.of(rule) for rule in RULES)
    for user in ("linter.rule_listing", "cli.check_run", "cli.rule_command", "cli.shell_completion"):
        monkeypatch.setattr(f"devlint.{user}.all_rule_metadata", lambda: metadata)
    monkeypatch.setattr("devlint.linter.rule_listing.own_rule_files", lambda: iter(()))
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Result:
        status = cli.invoke(arguments)
        captured = capfd.readouterr()
        return Result(status, captured.out, captured.err)

    return run


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., None]:
    """Writes files below the current directory: `files({"a.py": "x = 1"})`."""

    def write(contents: Mapping[str, str | bytes]) -> None:
        for name, content in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write
