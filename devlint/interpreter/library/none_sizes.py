"""Sizes that may be None: a factory such as `torch.zeros(n)` raises for one, so that what follows needs another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.path_conditions import Literal
from devlint.domain.value import NONE, Unknown
from devlint.interpreter.conditions.narrowing import none_condition
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.parameter_defaults import constant_default
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame

FACTORIES: Final = frozenset(f"torch.{name}" for name in ("empty", "ones", "rand", "randn", "zeros"))
"""The factories of which all positional arguments are sizes."""


def need_sizes(frame: Frame, call: LibraryCall) -> bool:
    """Assume that no size of a factory's call is None where it is named; return False if one surely is."""
    given = call.arguments.keywords.get("size")
    for name in _names([*call.arguments.positional, *([given] if given is not None else [])]):
        value = frame.state.names.get(name.value) if frame.function is not None else None
        if name.value in frame.outer_names or value is None:
            continue
        if value == NONE:
            return False
        match value:
            case Unknown(origin=("param", FunctionInfo() as info, str(parameter))):
                test = none_condition(frame, value, name) if constant_default(info, parameter) == (None,) else None
                if isinstance(test, Literal):
                    frame.state.assume(~test)
    return frame.state.live


def _names(arguments: list[Argument]) -> Iterator[cst.Name]:
    """Yield the names that arguments consist of, or the elements of a list or tuple of sizes."""
    for one in arguments:
        match one.node:
            case cst.Name() as name:
                yield name
            case cst.List(elements=elements) | cst.Tuple(elements=elements):
                yield from (each.value for each in elements if isinstance(each.value, cst.Name))
