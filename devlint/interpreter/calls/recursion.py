"""Functions that call themselves.

Into a container a function is followed as deep as the container goes. Any other recursion is run twice, one call within
the other; the call that would come next is taken for a path that does not return, so that the inner call yields what
the function returns without recursion. When the outer call, which builds on that, yields the same, so do all calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import UNKNOWN, Ref, Tensor, Tuple, Value, computed_tensor
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame


def descends_into_argument(frame: Frame, info: FunctionInfo, arguments: Arguments) -> bool:
    """Whether a function calls itself with a part of what it was given; of what is unknown nobody can tell."""
    if frame.function is not info:
        return False
    given = [frame.state.names[one.name] for one in info.parameters if one.name in frame.state.names]
    parts = [part for value in given for part in _parts(frame, value)]
    return any(argument.value in parts for argument in arguments if argument.value != UNKNOWN)


def _parts(frame: Frame, value: Value) -> Iterator[Value]:
    match value:
        case Tuple(items=items):
            yield from items
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                yield from thing.items if thing.items is not None else (thing.element,)
            elif isinstance(thing, Dict):
                yield from thing.entries.values()
                if thing.element is not None:
                    yield thing.element
            elif isinstance(thing, Instance):
                yield from thing.attributes.values()


def assume_bottom(frame: Frame, info: FunctionInfo, arguments: Arguments) -> bool:
    """Whether a call is left out: its function is running twice, and it is given nothing that it could change."""
    analysis = frame.analysis
    if analysis.active_functions.count(info) < 2 or _has_objects(one.value for one in arguments):
        return False
    analysis.recursive_calls.left_out.add(info)
    return True


def _has_objects(values: Iterable[Value]) -> bool:
    return any(isinstance(one, Ref) or (isinstance(one, Tuple) and _has_objects(one.items)) for one in values)


def recursive_result(frame: Frame, info: FunctionInfo, value: Value | None) -> Value | None:
    """What a call has returned (None when no path of it returns), once its recursive calls are accounted for."""
    recursion = frame.analysis.recursive_calls
    if info not in recursion.left_out:
        return value
    if info in frame.analysis.active_functions:
        if value is not None:
            recursion.inner[info] = value
        return value
    recursion.left_out.discard(info)
    inner = recursion.inner.pop(info, None)
    return value if value is not None and _plain(value) == _plain(inner) else UNKNOWN


def _plain(value: Value | None) -> Value | None:
    """The value without the marks of how it was made: only the innermost call returns what it was given."""
    return replace(computed_tensor(value), grad=None) if isinstance(value, Tensor) else value
