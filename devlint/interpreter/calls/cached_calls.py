"""Calls of functions under `functools.lru_cache` or `cache`: the same constants give the result of the first call."""

from __future__ import annotations

from collections.abc import Hashable
from types import NoneType
from typing import Final

from devlint.domain.record import record, replace
from devlint.domain.value import Const, DeviceValue, LibraryName, Number, SymbolicBool, Tuple, Unknown, Value
from devlint.interpreter.calls.summary_replay import rebinding_counts
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.function_roles import CACHING_DECORATORS
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.call_summaries import CachedResult
from devlint.interpreter.state.frame import Frame

_PLAIN: Final = (Const, DeviceValue, LibraryName, Number, SymbolicBool, Unknown)
"""The kinds of values that are the same wherever they are returned: no objects, and no memory."""

_KEYS: Final = (str, bytes, int, float, complex, NoneType)
"""The types of the constants that are compared."""


@record(frozen=True, slots=True)
class CachedCall:
    """A call of a function with a cache: what tells it from other calls, and the state before it.

    `outer_writes` counts the writes to global names and to names of enclosing functions.
    """

    key: Hashable
    before: State
    outer_writes: tuple[int, int]


def cached_call(frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> CachedCall | None:
    """Return a call of a function with a cache, with constants alone; None for a call to be run anew.

    Calls under different conditions are different, since what the function asks may be decided by them.
    """
    if receiver is not None or not arguments.complete or info.decorator_names.isdisjoint(CACHING_DECORATORS):
        return None
    given = [(name, arguments.keywords[name].value) for name in sorted(arguments.keywords)]
    given += [("", one.value) for one in arguments.positional]
    constants = [(name, value.value) for name, value in given if isinstance(value, Const)]
    if len(constants) < len(given) or not all(isinstance(one, _KEYS) for _, one in constants):
        return None
    state, torch_state = frame.state, frame.state.torch_state
    settings = torch_state.default_device, torch_state.default_dtype, frame.analysis.symbolic
    # `1` is equal to `True`, and no other key of a cache with `typed=True`.
    typed = tuple((name, type(one), one) for name, one in constants)
    return CachedCall((info, typed, state.path_condition, settings), state.fork(), rebinding_counts(frame))


def remembered(frame: Frame, call: CachedCall) -> Value | None:
    """Return the result of an earlier call, and wait for the accelerator as that call did; None if there is none."""
    found = frame.analysis.cached_results.get(call.key)
    if found is None:
        return None
    if found.waits:
        frame.synchronize()
    return found.value


def remember(frame: Frame, call: CachedCall, result: Value) -> None:
    """Keep the result of a call for later ones, if it is no object and the call has changed nothing that lasts.

    What a call stores may be gone where the next one is made: on another path, or from another entry point. That it
    waits for the accelerator, as every call of unseen code may, is kept with the result.
    """
    if frame.state.live and _is_plain(result) and _has_changed_nothing(frame, call):
        waits = frame.state.torch_state.epoch != call.before.torch_state.epoch
        frame.analysis.cached_results[call.key] = CachedResult(result, waits)


def _has_changed_nothing(frame: Frame, call: CachedCall) -> bool:
    """Return whether a call has only made new objects and waited, and left conditions and torch's settings alone."""
    before, after = call.before, frame.state
    if rebinding_counts(frame) != call.outer_writes:
        return False
    if (after.path_condition, after.required) != (before.path_condition, before.required):
        return False
    left = before.torch_state
    if after.torch_state.epoch != left.epoch:
        left = replace(left, epoch=after.torch_state.epoch, unsynchronized=None, last_wait=None, in_flight=frozenset())
    if after.torch_state != left:
        return False
    earlier = ((before.heap.get(address), thing) for address, thing in after.heap.written_since(before.heap))
    return all(one is None or one is thing for one, thing in earlier)


def _is_plain(value: Value) -> bool:
    """Return whether a value may stand for the result of a later call: it is no object, and holds none."""
    return isinstance(value, _PLAIN) or (isinstance(value, Tuple) and all(map(_is_plain, value.items)))
