"""Run one entry of the gallery in a process of its own, on the host or on the emulated device."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Final

from gallery_bug import Bug

from devlint.runtime import emulate

_PROCESSES: Final = get_context("forkserver")
_PROCESSES.set_forkserver_preload(["torch", "devlint.runtime.record_and_emulate", "gallery_run"])
_SECONDS: Final = 300


@dataclass(frozen=True)
class Outcome:
    """What a driver did on one device."""

    raised: bool
    text: str
    """The error, or what the driver observed."""
    row_ran: bool
    """Whether the row that devlint reports was executed."""
    passed: tuple[int, ...]
    """The rows of the file through which the error came, outermost first."""


def _run(bug: Bug, show: Callable[[str], object], file: Path, device: str) -> Outcome:
    name, ran = str(file), set[int]()

    def local(frame: FrameType, event: str, _: Any) -> Any:
        ran.add(frame.f_lineno)
        return local

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename == name else None

    sys.settrace(trace)
    try:
        with emulate() if device != "cpu" else nullcontext():
            text, raised, passed = str(show(device)), False, []
    except Exception as error:
        sys.settrace(None)
        text, raised = f"{type(error).__name__}: {error}", True
        frames = [at for at in traceback.extract_tb(error.__traceback__) if at.filename == name]
        passed = [row for at in frames for row in range(at.lineno or 0, (at.end_lineno or 0) + 1)]
        if os.environ.get("GALLERY_TRACEBACK"):
            traceback.print_exc()
    finally:
        sys.settrace(None)
    return Outcome(raised, text, bug.row in ran, tuple(passed))


def _child(entry: Path, checkout: Path, device: str, answer: Connection) -> None:
    warnings.simplefilter("ignore")
    bug = runpy.run_path(str(entry))["ENTRY"]
    root = checkout / bug.inside
    sys.path.insert(0, str(root))
    sys.argv = [str(entry)]
    os.chdir(root)
    answer.send(_run(bug, runpy.run_path(str(entry))["show"], checkout / bug.file, device))


def outcome(entry: Path, checkout: Path, device: str) -> Outcome:
    """Return what an entry's driver does on a device, with the project's checkout on `sys.path`."""
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_child, args=(entry, checkout.resolve(), device, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(_SECONDS) else Outcome(True, "no answer in time", False, ())
    except EOFError:
        return Outcome(True, "the process died", False, ())
    finally:
        process.kill()
        process.join()


def trouble(bug: Bug, path: Path, checkouts: Path) -> str:
    """Return why the run does not show the bug as the entry says; empty if it does."""
    checkout = checkouts / bug.folder
    if not checkout.is_dir():
        return f"no checkout {checkout}"
    seen = outcome(path, checkout, "cuda")
    if bug.expected not in seen.text or seen.raised == bug.observed:
        return f"not as expected: {seen.text}"
    if not seen.row_ran:
        return f"the row did not run; raised through {seen.passed}"
    if seen.raised and (bug.raised_at or bug.row) not in seen.passed:
        return f"raised through {seen.passed}: {seen.text}"
    if bug.observed or bug.on_host_too:
        return ""
    host = outcome(path, checkout, "cpu")
    return f"raises on the host too: {host.text}" if host.raised else ""
