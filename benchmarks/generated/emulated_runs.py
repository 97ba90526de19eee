"""Runs of generated programs on the emulated device: where each raised, and what `reveal_placement` saw."""

from __future__ import annotations

import builtins
import contextlib
import sys
import traceback
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
import torch

from devlint.runtime import emulate
from devlint.runtime.error_reports import code_for
from devlint.runtime.not_emulated import NotEmulated
from generated.program_generator import MAIN, GeneratedProgram
from generated.time_limit import TooLong, time_limit

SECONDS = 3.0
"""The processor time that a program may take."""
Line = tuple[str, int]
"""A file of the program, and a row in it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A value that `reveal_placement` saw: its device (None for an array), its dtype, whether it has no dimensions."""

    device: str | None
    dtype: str
    is_scalar: bool


@dataclass(slots=True)
class Outcome:
    """The outcome of a run. `error` is the exception that ended the program, and `code` the rule that is about it.

    `lines` are the lines that the exception passed through, innermost first. `reached` are the lines that ran, and
    `failed` those where an exception was raised, if the run was traced.
    """

    error: BaseException | None = None
    code: str | None = None
    lines: tuple[Line, ...] = ()
    seen: dict[Line, set[Seen]] = field(default_factory=lambda: defaultdict(set))
    reached: set[Line] = field(default_factory=set)
    failed: set[Line] = field(default_factory=set)

    @property
    def is_judged(self) -> bool:
        """Whether the run says something: it ended without an error, or with one that some rule is about."""
        return self.error is None or self.code is not None


@contextlib.contextmanager
def emulation() -> Iterator[None]:
    """Context manager in which programs can be grown and run: two emulated devices, and no warnings."""
    vars(builtins)["reveal_placement"] = lambda value: value
    report, sys.unraisablehook = sys.unraisablehook, lambda _: None  # finalizers that a time limit interrupts
    try:
        with emulate(devices=2), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = report
        del vars(builtins)["reveal_placement"]


def run(program: GeneratedProgram, *, trace: bool = False) -> Outcome:
    """Run a program from its beginning, in fresh namespaces, and return the outcome."""
    outcome = Outcome()
    torch.manual_seed(0)
    torch.cuda.set_device(0)
    torch.set_grad_enabled(True)  # a generator of an earlier program may have left its no_grad() open
    hook, vars(builtins)["reveal_placement"] = vars(builtins)["reveal_placement"], _recorder(outcome, program)
    before = sys.gettrace()
    try:
        if trace:
            sys.settrace(_tracer(outcome, program))
        with time_limit(SECONDS, frozenset(program.files)):
            _execute(program)
    except (Exception, TooLong) as error:
        sys.settrace(before)
        outcome.error = error
        frames = traceback.extract_tb(error.__traceback__)
        outcome.lines = tuple(
            (one.filename, one.lineno or 0) for one in reversed(frames) if one.filename in program.files
        )
        if not isinstance(error, NotEmulated):
            outcome.code = code_for(str(error))
    finally:
        sys.settrace(before)
        vars(builtins)["reveal_placement"] = hook
        sys.modules.pop("helpers", None)
    return outcome


def _execute(program: GeneratedProgram) -> None:
    """Execute the files of a program, the main file last."""
    for name, text in program.files.items():
        module = types.ModuleType("__main__" if name == MAIN else name.removesuffix(".py"))
        if name != MAIN:
            sys.modules[module.__name__] = module
        exec(compile(text, name, "exec"), vars(module))


def _recorder(outcome: Outcome, program: GeneratedProgram) -> Any:
    """Return the function that programs call as `reveal_placement`."""

    def reveal_placement(value: Any) -> Any:
        frame = sys._getframe(1)
        if frame.f_code.co_filename in program.files:
            line = frame.f_code.co_filename, frame.f_lineno
            if isinstance(value, torch.Tensor):
                dtype = str(value.dtype).removeprefix("torch.")
                outcome.seen[line].add(Seen(str(value.device), dtype, value.dim() == 0))
            elif isinstance(value, np.ndarray):
                outcome.seen[line].add(Seen(None, str(value.dtype), False))
        return value

    return reveal_placement


def _tracer(outcome: Outcome, program: GeneratedProgram) -> Any:
    """Return a trace function that notes the lines of the program that run, and those where exceptions pass."""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        if name not in program.files:
            return None
        if event == "line":
            outcome.reached.add((name, frame.f_lineno))
        elif event == "exception":
            outcome.failed.add((name, frame.f_lineno))
        return trace

    return trace
