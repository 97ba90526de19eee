"""The recursive functions being run."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.value import Value
from devlint.interpreter.program.definitions import FunctionInfo


@dataclass(slots=True)
class RecursiveCalls:
    """The recursive functions being run: those of which a call was left out, and what their inner calls returned."""

    left_out: set[FunctionInfo] = field(default_factory=set)
    inner: dict[FunctionInfo, Value] = field(default_factory=dict)
