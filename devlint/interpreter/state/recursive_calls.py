"""The recursive functions that are being analysed."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.value import Value
from devlint.interpreter.program.definitions import FunctionInfo


@dataclass(slots=True)
class RecursiveCalls:
    """The recursive functions that are being analysed, with what is known of their inner calls.

    `left_out` are the functions of which a recursive call was skipped, `inner` the values that their inner calls
    returned.
    """

    left_out: set[FunctionInfo] = field(default_factory=set)
    inner: dict[FunctionInfo, Value] = field(default_factory=dict)
