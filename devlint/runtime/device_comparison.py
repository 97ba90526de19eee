"""The comparison behind `devlint run --device emulated:all`: one program on the CPU and on each emulated accelerator.

Every run has a process of its own, because a program can leave anything behind. This module does not need torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from devlint.runtime.backends import BACKENDS, EMULATED
from devlint.runtime.printed_numbers import Line, first_missing, line_text, numbered_lines, stable_lines

HOST = "cpu"
"""The device with whose run the others are compared."""
DEVICES = (HOST, *(f"{EMULATED}:{kind}" for kind in BACKENDS))
"""The devices that a program is run on."""


class Numbers(Enum):
    """How the numbers of a run compare with those of the run on the CPU."""

    SAME = "same"
    DIFFERENT = "different"
    NONE = "none"
    VARYING = "varying"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SingleRun:
    """One run of the program: how it ended, what it printed, and the digests of the parameters that it trained.

    `host_only` tells that operators ran, and none of them on the device.
    """

    device: str
    status: int
    printed: str
    error: str | None = None
    emulated: bool = True
    filename: str | None = None
    line: int | None = None
    parameters: tuple[str, ...] = ()
    host_only: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the comparison: a run, how its numbers compare with the CPU's, and a text that tells more."""

    run: SingleRun
    numbers: Numbers
    detail: str = ""

    @property
    def agrees(self) -> bool:
        """Return whether the program ran to its end, with the numbers of the CPU if it has any."""
        return self.run.status == 0 and self.numbers in (Numbers.SAME, Numbers.NONE)

    @property
    def proven(self) -> bool:
        """Return whether the program agrees, and did not run on the host only where it could use an accelerator."""
        return self.agrees and not self.run.host_only


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A program or module to run on every device, its arguments, and the number of devices to emulate."""

    program: str
    module: bool
    arguments: tuple[str, ...]
    devices: int = 1
    keep_going: bool = False


def compare_devices(request: ComparisonRequest) -> list[Row]:
    """Run a program on the CPU and on each emulated accelerator, one after the other, and return a row for each.

    If a number differs, the program is run on the CPU once more: what varies there is not compared.
    """
    host, *others = [_run(request, device) for device in DEVICES]
    lines = numbered_lines(host.printed)
    varying = False
    if any(other.status == 0 and not _same(host, lines, other) for other in others):
        again = _run(request, HOST)
        lines = stable_lines(lines, numbered_lines(again.printed))
        varying = host.parameters != again.parameters
    first = Row(host, Numbers.NONE if host.status == 0 else Numbers.UNKNOWN, _what_is_compared(host, lines))
    return [first, *(_row(host, lines, other, varying) for other in others)]


def _run(request: ComparisonRequest, device: str) -> SingleRun:
    """Run the program on one device in a process of its own, and return what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        asked = json.dumps({**asdict(request), "device": device, "result": str(result)})
        done = subprocess.run(
            [sys.executable, "-m", "devlint.runtime.single_run", asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={"PYTHONHASHSEED": "0", **os.environ},
            check=False,
        )
        if result.exists():
            found = json.loads(result.read_text(encoding="utf-8"))
            return SingleRun(device, printed=done.stdout, **{**found, "parameters": tuple(found["parameters"])})
    last = done.stderr.strip().splitlines()[-1:] or [f"the process ended with status {done.returncode}"]
    return SingleRun(device, done.returncode or 1, done.stdout, last[0])


def _same(host: SingleRun, lines: Sequence[Line], other: SingleRun) -> bool:
    """Return whether a run has the parameters of the run on the CPU and printed the given lines."""
    return host.parameters == other.parameters and first_missing(lines, numbered_lines(other.printed)) is None


def _row(host: SingleRun, lines: Sequence[Line], other: SingleRun, varying: bool) -> Row:
    """Return the row of one run; `varying` is whether the parameters differ from run to run on the CPU."""
    if other.status or host.status:
        return Row(other, Numbers.UNKNOWN)
    if varying:
        return Row(other, Numbers.VARYING, "two runs on the CPU differ too: seed the program to compare")
    if host.parameters != other.parameters:
        pairs = zip(host.parameters, other.parameters, strict=False)
        differing = sum(one != two for one, two in pairs) + abs(len(host.parameters) - len(other.parameters))
        return Row(other, Numbers.DIFFERENT, f"{differing} of {len(host.parameters)} final parameters")
    missing = first_missing(lines, numbered_lines(other.printed))
    if missing is not None:
        return Row(other, Numbers.DIFFERENT, f"not printed: {line_text(missing)}")
    compared = _what_is_compared(host, lines)
    return Row(other, Numbers.SAME if compared else Numbers.NONE, compared)


def _what_is_compared(host: SingleRun, lines: Sequence[Line]) -> str:
    """Return what the run on the CPU gives to compare with, as text; it is empty if that is nothing."""
    found = ((len(host.parameters), "final parameter"), (len(lines), "printed line"))
    return ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for count, name in found if count)


def as_table(rows: Sequence[Row]) -> str:
    """Return the comparison as a table for people."""
    cells = [("device", "runs", "numbers", "")]
    for row in rows:
        run = row.run
        if run.status:
            where = f"{_shown_path(run.filename)}:{run.line}  " if run.filename else ""
            what = run.error or f"exit status {run.status}"
            cells.append((run.device, "no" if run.emulated else "unknown", "", where + what))
        elif run.host_only and row.agrees:
            cells.append((run.device, "host", "", "ran on the host only"))
        else:
            cells.append((run.device, "yes", "" if run.device == HOST else row.numbers.value, row.detail))
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    shown = (
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3]]) for line in cells
    )
    return "".join(f"{line.rstrip()}\n" for line in shown)


def as_json(rows: Sequence[Row]) -> str:
    """Return the comparison as JSON."""
    found = []
    for row in rows:
        run = replace(row.run, filename=_shown_path(row.run.filename) if row.run.filename else None)
        parts = {key: value for key, value in asdict(run).items() if key not in ("printed", "parameters")}
        found.append({**parts, "numbers": row.numbers.value, "detail": row.detail})
    return json.dumps({"runs": found, "proven": all(row.proven for row in rows)}, indent=2) + "\n"


def _shown_path(filename: str) -> str:
    """Return a file name relative to the current directory if the file lies below it."""
    path = Path(filename)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else filename
