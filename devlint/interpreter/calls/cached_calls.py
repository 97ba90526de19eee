"""Calls of functions under `functools.lru_cache` or `cache`: the same constants give the result of the first call."""

from __future__ import annotations

from collections.abc import Hashable
from types import NoneType
from typing import Final

from devlint.domain.value import Const, DeviceValue, LibraryName, Number, SymbolicBool, Tuple, Unknown, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.function_roles import CACHING_DECORATORS
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame

_PLAIN: Final = (Const, DeviceValue, LibraryName, Number, SymbolicBool, Unknown)
"""The kinds of values that are the same wherever they are returned: no objects, and no memory."""

_KEYS: Final = (str, bytes, int, float, complex, NoneType)
"""The types of the constants that are compared."""


def cached_call(frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> Hashable | None:
    """Return what tells a call of a function with a cache from other calls of it; None for a call to be run anew.

    Calls under different conditions are different, since what the function asks may be decided by them.
    """
    if receiver is not None or not arguments.complete or info.decorator_names.isdisjoint(CACHING_DECORATORS):
        return None
    given = [one.value for one in arguments.positional]
    named = {name: one.value for name, one in arguments.keywords.items()}
    if not all(isinstance(one, Const) and isinstance(one.value, _KEYS) for one in (*given, *named.values())):
        return None
    state = frame.state
    settings = state.torch_state.default_device, state.torch_state.default_dtype, frame.analysis.symbolic
    return (
        info,
        tuple(map(_typed, given)),
        tuple((name, _typed(named[name])) for name in sorted(named)),
        (
            state.path_condition,
            settings,
        ),
    )


def is_kept(value: Value) -> bool:
    """Return whether the result of a call may stand for that of a later one: it is no object, and holds none."""
    return isinstance(value, _PLAIN) or (isinstance(value, Tuple) and all(map(is_kept, value.items)))


def _typed(value: Value) -> Hashable:
    """Return a constant with its type: `1` is not `True`."""
    return value, type(value.value) if isinstance(value, Const) else None
