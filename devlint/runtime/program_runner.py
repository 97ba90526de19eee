"""Runner behind the command `devlint run`: runs a program as `python` would, on emulated or real devices."""

from __future__ import annotations

import os
import runpy
import shlex
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import click
import torch

from devlint.runtime import runtime_session
from devlint.runtime.backends import BACKENDS, HOST, emulated_kind
from devlint.runtime.configured_linter import ConfiguredLinter
from devlint.runtime.device_coverage import device_coverage, share_on_device
from devlint.runtime.error_reports import (
    OBSERVATION_ATTRIBUTE,
    first_line,
    report_error_that_may_be_caught,
    report_uncaught_error,
)
from devlint.runtime.going_on import going_on
from devlint.runtime.line_coverage import LineCoverage
from devlint.runtime.module_moves import census_of_moved_modules
from devlint.runtime.record_and_emulate import emulate, record, without_accelerators
from devlint.runtime.recorded_run import ProgramStop
from devlint.runtime.recording_report import Report
from devlint.runtime.storage_labels import device_memory

_OWN_FOLDER = str(Path(__file__).resolve().parent)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A program or module for `devlint run` to run, its arguments, and the kind and number of devices to run it on.

    `command` is what the user has written after `devlint run`, for the report.
    """

    program: str
    module: bool
    arguments: tuple[str, ...]
    device: str = "auto"
    devices: int = 1
    keep_going: bool = False
    census: bool = False
    command: tuple[str, ...] = ()


def run_program(request: RunRequest, linter: ConfiguredLinter | None) -> tuple[int, Report]:
    """Run a program on the requested devices, and return its exit status and the report of what was recorded.

    The report includes the findings of the static analysis if a linter is given.
    """
    device = request.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "emulated"
    if device == "cuda" and not torch.cuda.is_available():
        raise click.UsageError("there is no CUDA device; use --device emulated")
    kind = emulated_kind(device)
    if kind is not None and BACKENDS[kind].single and request.devices != 1:
        raise click.UsageError(f"there is only one {kind} device in a machine")
    place: AbstractContextManager[Any] = nullcontext()
    if kind is not None:
        place = emulate(request.devices, kind)
    elif device == HOST:
        place = without_accelerators()
    lines, here, started = LineCoverage(on_error=note_error), Path.cwd(), datetime.now(timezone.utc).astimezone()
    with (
        place as session,
        going_on(session) if session is not None and request.keep_going else nullcontext(),
        record() as report,
        census_of_moved_modules(report.census, report.notes.append) if request.census else nullcontext(),
        lines,
    ):
        held = _forget_peaks()
        end = execute(request)
    os.chdir(here)  # reports show file names relative to the directory in which the run was started
    report.ran = frozenset(lines.ran)
    report.see_all = "--all"
    report.device = device if kind is None else f"{request.devices} emulated {kind}"
    report.accelerator = report.accelerator or (device if device != HOST else "")
    report.ended = _stop(end)
    report.share_on_device = share_on_device(device_coverage(report.recorder, here))
    report.peak = (
        torch.cuda.max_memory_allocated()
        if device == "cuda"
        else max((memory.peak - held.get(key, 0) for key, memory in device_memory.items()), default=0)
    )
    program = Path(request.program).absolute().parent if not request.module else here
    report.about = (
        ("Date", f"{started:%Y-%m-%d %H:%M}"),
        ("Command", shlex.join(["devlint", "run", *request.command])),
        ("Configuration", linter.configuration(program) if linter is not None else "no static findings"),
        ("Devices", f"{report.device}, torch {torch.__version__}"),
    )
    if linter is not None:
        report.findings = linter.findings(lines.files, with_imports=end.status != 0)
        report.apply_settings = linter.apply_settings
    return end.status, report


def _forget_peaks() -> dict[int, int]:
    """Begin to measure the memory of emulated devices; return the bytes that the process holds there by now."""
    for memory in device_memory.values():
        memory.peak = memory.allocated
    return {key: memory.allocated for key, memory in device_memory.items()}


def note_error(error: BaseException, frame: FrameType) -> None:
    """Record an exception about devices or dtypes that comes to the program's code, which may catch it."""
    if runtime_session.active is not None:
        report_error_that_may_be_caught(runtime_session.active, error, frame)


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended: its exit status, and the exception that ended it if one did."""

    status: int
    error: BaseException | None = None


def _stop(end: ProgramEnd) -> ProgramStop | None:
    """Return what ended a program early; None if it came to its end, or left with the exit status 0."""
    if end.error is not None:
        name, message = type(end.error).__name__, first_line(str(end.error))
        return ProgramStop(f"{name}: {message}" if message else name, hasattr(end.error, OBSERVATION_ATTRIBUTE))
    return ProgramStop(f"exit status {end.status}") if end.status else None


def execute(request: RunRequest) -> ProgramEnd:
    """Run the requested program as `__main__` on the devices that there are now, and return how it ended."""
    argv, path = sys.argv[:], sys.path[:]
    try:
        if request.module:
            sys.argv = [request.program, *request.arguments]
            sys.path.insert(0, str(Path.cwd()))
            runpy.run_module(request.program, run_name="__main__", alter_sys=True)
        else:
            sys.argv = [request.program, *request.arguments]
            program = Path(request.program).absolute()
            sys.path.insert(0, str(program.parent))
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as leaving:
        return ProgramEnd(_exit_status(leaving))
    except KeyboardInterrupt as interrupted:
        _print_traceback(interrupted)
        return ProgramEnd(130, interrupted)
    except BaseException as error:
        if runtime_session.active is not None:
            report_uncaught_error(runtime_session.active, error)
        _print_traceback(error)
        return ProgramEnd(1, error)
    finally:
        sys.argv, sys.path = argv, path
    return ProgramEnd(0)


def _exit_status(leaving: SystemExit) -> int:
    """Return the exit status that Python would exit with for a SystemExit.

    If its code is no number, the code is printed to stderr and the status is 1.
    """
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF
    print(leaving.code, file=sys.stderr)  # noqa: T201 - what python does
    return 1


def _print_traceback(error: BaseException) -> None:
    """Write the traceback of an exception to stderr as Python would, without the frames of devlint and of `runpy`."""
    shown = traceback.TracebackException(type(error), error, _program_part(error.__traceback__))
    shown.stack = traceback.StackSummary.from_list([f for f in shown.stack if not f.filename.startswith(_OWN_FOLDER)])
    sys.stderr.write("".join(shown.format()))


def _program_part(found: TracebackType | None) -> TracebackType | None:
    """Return a traceback from its first frame that belongs neither to devlint nor to `runpy`; None if there is none."""
    while found is not None and (
        found.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER) or found.tb_frame.f_globals.get("__name__") == "runpy"
    ):
        found = found.tb_next
    return found
