"""The record of the recursive functions that are being analysed."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.value import Value
from devlint.interpreter.program.definitions import FunctionInfo


@dataclass(slots=True)
class RecursiveCalls:
    """The record of the recursive functions that are being analysed, with what is known of their inner calls.

    `skipped` are the functions of which a recursive call was left out, `inner_results` the values that their inner
    calls returned.
    """

    skipped: set[FunctionInfo] = field(default_factory=set)
    inner_results: dict[FunctionInfo, Value] = field(default_factory=dict)
