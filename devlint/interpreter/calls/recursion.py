"""Recursive functions: calls that descend into a container or count are followed, any other recursion is cut off.

A call that descends into a container, or that counts with constants, is followed for some levels. Any other recursive
function is run twice, one call within the other. A further call is assumed not to return (bottom), so the inner call
yields the result without recursion. If the outer call, which uses that result, yields the same result, the result is a
fixpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import UNKNOWN, Const, Ref, Tensor, Tuple, Value, computed_tensor
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame

MAX_COUNTING_CALLS: Final = 2
"""The number of calls of itself that a function which counts may have: one if it folds, two if it makes a tree."""


def descends_into_argument(frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> bool:
    """Return whether a function calls itself with a part of its own argument, such as an element of a list.

    So does a function that calls itself with another constant number: it counts, as in `f(n - 1)`. Unknown arguments do
    not count, nor does a function that calls itself in many places or in a loop: the number of its calls would explode.
    """
    if frame.function is not info:
        return False
    if not frame.loops and info.self_calls <= MAX_COUNTING_CALLS and _counts(frame, info, receiver, arguments):
        return True
    given = [frame.state.names[one.name] for one in info.parameters if one.name in frame.state.names]
    parts = [part for value in given for part in _parts(frame, value)]
    return any(argument.value in parts for argument in arguments if argument.value != UNKNOWN)


def _counts(frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments) -> bool:
    """Return whether a function calls itself with another integer constant than it was given for the same parameter."""
    names = [one.name for one in info.parameters if one.kind == "positional"][receiver is not None :]
    passed = [*zip(names, arguments.positional, strict=False), *arguments.keywords.items()]
    pairs = [(frame.state.names.get(name), argument.value) for name, argument in passed]
    return any(
        isinstance(before, Const) and isinstance(after, Const) and type(after.value) is int and before != after
        for before, after in pairs
    )


def _parts(frame: Frame, value: Value) -> Iterator[Value]:
    """Yield the values inside a value: the elements of a container, or the values of an object's attributes."""
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
    """Return whether to assume that a recursive call does not return (bottom).

    The function must be running twice already, and no argument may be an object that the call could change. If the
    answer is true, it is recorded that a recursive call of the function was left out.
    """
    analysis = frame.analysis
    if analysis.active_functions.count(info) < 2 or _has_objects(one.value for one in arguments):
        return False
    analysis.recursive_calls.skipped.add(info)
    return True


def _has_objects(values: Iterable[Value]) -> bool:
    """Return whether any of the values is a reference to a heap object, directly or in a tuple."""
    return any(isinstance(one, Ref) or (isinstance(one, Tuple) and _has_objects(one.items)) for one in values)


def recursive_result(frame: Frame, info: FunctionInfo, value: Value | None) -> Value | None:
    """Return the result of a call inside which recursive calls may have been left out.

    The result is None if no path of the call returns. The result of the outermost call is unknown unless it equals the
    inner call's result.
    """
    recursion = frame.analysis.recursive_calls
    if info not in recursion.skipped:
        return value
    if info in frame.analysis.active_functions:
        if value is not None:
            recursion.inner_results[info] = value
        return value
    recursion.skipped.discard(info)
    inner = recursion.inner_results.pop(info, None)
    return value if value is not None and _without_origin_marks(value) == _without_origin_marks(inner) else UNKNOWN


def _without_origin_marks(value: Value | None) -> Value | None:
    """Return a tensor without the properties that tell an argument (such as a parameter) from a computed tensor.

    Any other value is returned unchanged. Results of nested recursive calls are compared without these properties,
    since only the innermost call returns an argument itself.
    """
    return replace(computed_tensor(value), grad=None) if isinstance(value, Tensor) else value
