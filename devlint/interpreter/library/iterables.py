"""Models of builtins that iterate over their arguments, such as `zip`, `map` and `sum`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from devlint.domain.join import alternatives, join
from devlint.domain.objects import ANY_ITERATOR, Dict, Instance, Sequence, join_all, with_fewer_items
from devlint.domain.path_conditions import Literal
from devlint.domain.record import replace
from devlint.domain.value import UNKNOWN, Array, Const, Number, Ref, Size, Tensor, Tuple, Unknown, Value
from devlint.interpreter.conditions.length_comparisons import filled_condition_of
from devlint.interpreter.language.operators import apply_binary_operator
from devlint.interpreter.objects.collections import dict_from_arguments
from devlint.interpreter.objects.library_objects import DATA_LOADER
from devlint.interpreter.objects.live_elements import list_of, source_of
from devlint.interpreter.objects.sequence_lengths import forget_length
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.interpreter.state.rebinding import rebind

MAX_COUNTED: Final = 3
"""The longest range whose numbers are kept one by one; a loop over so few costs little more than a fixed point."""

IN_ORDER: Final = frozenset({"builtins.iter", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm"})
"""Functions whose result starts with the first element of the iterable, and is only iterated over."""


@models_call(
    "builtins.range", "builtins.reversed", "builtins.sorted", "builtins.iter", "builtins.list", "builtins.tuple",
    "builtins.set", "builtins.frozenset", "collections.deque", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.trange",
    "tqdm.notebook.tqdm", "tqdm.std.tqdm", "itertools.islice", "itertools.cycle", "rich.progress.track",
)  # fmt: skip
def model_iter_like(frame: Frame, call: LibraryCall) -> Value:
    """Model `list`, `iter`, `sorted`, `range`, `tqdm` and the like: a collection of an iterable's elements.

    For `sorted`, `set` and `frozenset`, any element may be at any position of the result.
    """
    if call.name in ("builtins.range", "tqdm.trange"):
        if any(_is_no_bound(frame, one) for one in call.arguments.positional):
            frame.fail()
            return UNKNOWN
        _narrow_bounds(frame, call)
        return frame.allocate(call.node, _range(call))
    first = call.first or call.arguments.get("iterable")
    if first is None:
        kind = "tuple" if call.name == "builtins.tuple" else "list"
        return Tuple(()) if kind == "tuple" else frame.allocate(call.node, Sequence(()))
    found = frame.iterate(first.value, first.node)
    if call.name == "builtins.tuple" and found.items is not None:
        return Tuple(found.items)
    if (
        call.name in ("builtins.sorted", "builtins.reversed", "builtins.set", "builtins.frozenset")
        and found.items is not None
    ):
        found = (
            replace(found, items=tuple(reversed(found.items)))
            if call.name == "builtins.reversed"
            else replace(with_fewer_items(found), filled=bool(found.items))
        )
    if call.name == "itertools.islice":
        found = replace(found, filled=None, optional=())
    kind = {"builtins.list": "list", "builtins.tuple": "tuple"}.get(call.name, "iterator")
    if call.name == "builtins.iter" and not all(_has_plain_iterator(frame, one) for one in alternatives(first.value)):
        kind = ANY_ITERATOR
    in_order = call.name in IN_ORDER
    # A new list holds the elements of this moment.
    sources = source_of(frame, first.value, found) if in_order and kind != "list" else None
    prefix, optional = (found.prefix, found.optional if kind == "list" else ()) if in_order else ((), ())
    return frame.allocate(
        call.node,
        replace(found, kind=kind, prefix=prefix, sources=sources, mapping=None, optional=optional),
    )


def _has_plain_iterator(frame: Frame, value: Value) -> bool:
    """Return whether the iterator of a value is one of Python or torch, which has no methods but those of Python 3."""
    if isinstance(value, (Tuple, Size, Const, Tensor, Array)):
        return True
    match frame.object_of(value):
        case Sequence(kind=kind):
            return kind != ANY_ITERATOR
        case Dict():
            return True
        case Instance(cls=cls):
            return cls == DATA_LOADER
    return False


@models_call("iterator.next", "generator.next")
def next_method(frame: Frame, call: LibraryCall) -> Value:
    """Model `iterator.next()`, a method of Python 2, which loaders of torch 1 had too: it raises AttributeError."""
    frame.fail()
    return UNKNOWN


def _is_no_bound(frame: Frame, given: Argument) -> bool:
    """Return whether a `range` call raises TypeError because it is given None, a float or a text.

    What other names than local ones hold may have been replaced by code that the analysis does not see.
    """
    match given:
        case Argument(value=Const(value=bound), node=cst.Name(value=name)):
            return frame.function is not None and name in frame.function.locals and not isinstance(bound, int)
    return False


def _narrow_bounds(frame: Frame, call: LibraryCall) -> None:
    """Make unknown names and attributes integers that a `range` call takes as its bounds: it takes nothing else."""
    for one in call.arguments.positional:
        if isinstance(one.value, Unknown):
            rebind(frame, one.node, one.value, Number("int"))


def _range(call: LibraryCall) -> Sequence:
    """Return the sequence of the numbers of a `range` call: each number if all are known and few.

    Otherwise the sequence is one of unknown integers, with the first number if that is known.
    """
    given = [one.value for one in call.arguments.positional]
    bounds = [one.value for one in given if isinstance(one, Const) and type(one.value) is int]
    if 0 < len(bounds) == len(given) <= 3 and call.arguments.complete and 0 not in bounds[2:]:
        numbers = range(*bounds)
        if len(numbers) <= MAX_COUNTED:
            return Sequence(tuple(map(Const, numbers)), kind="range")
        filled: Literal | bool | None = True
    else:
        filled = filled_condition_of(given[0]) if len(given) == 1 else None
    first = given[0] if len(given) > 1 else Const(0)
    prefix = (first,) if isinstance(first, Const) else ()
    return Sequence(None, Number("int"), "range", prefix=prefix, filled=filled)


@models_call("builtins.enumerate")
def enumerate_(frame: Frame, call: LibraryCall) -> Value:
    """Model `enumerate(xs, start)`: pairs of a number and an element."""
    first = call.first
    found = frame.iterate(first.value, first.node) if first is not None else Sequence(None)
    sources = None if first is None else (None, list_of(frame, first.value, found))
    if found.items is not None and len(call.arguments.positional) == 1:
        rows = tuple(Tuple((Const(i), one)) for i, one in enumerate(found.items))
        return frame.allocate(call.node, Sequence(rows, kind="iterator", sources=sources))
    start = call.arguments.value("start", 1) or Const(0)
    known = found.beginning or (found.any,)
    least = start.value if isinstance(start, Const) else None
    numbers: list[Value] = [Const(least + i) for i in range(len(known))] if isinstance(least, int) else [start]
    prefix = tuple(Tuple(pair) for pair in zip(numbers, known, strict=False))
    row = Tuple((Number("int"), found.any))
    return frame.allocate(
        call.node,
        Sequence(
            None,
            row,
            "iterator",
            prefix=prefix,
            filled=found.has_elements,
            sources=sources,
            generator=found.generator,
        ),
    )


@models_call("builtins.zip")
def zip_(frame: Frame, call: LibraryCall) -> Value:
    """Model `zip(xs, ys)`: tuples of one element of each iterable; `zip(*pairs)` gives first and second elements."""
    found = [frame.iterate(one.value, one.node) for one in call.arguments.positional]
    if found and all(one.items is not None for one in found) and call.arguments.complete:
        rows = zip(*(one.items or () for one in found), strict=False)
        items = tuple(Tuple(tuple(row)) for row in rows)
        return frame.allocate(call.node, Sequence(items, kind="iterator", sources=_lists_of(frame, call, found)))
    if not call.arguments.complete:
        rest = call.arguments.rest.value if call.arguments.rest is not None and not found else UNKNOWN
        if not isinstance(rest, Tuple):
            return frame.allocate(call.node, Sequence(None, UNKNOWN, "iterator"))
        # `zip(*rows)` of rows of the same form gives the columns of the rows; a column has as many elements as there
        # are rows.
        columns = [
            frame.allocate(call.node, Sequence(None, item, "tuple"), f"column {i}") for i, item in enumerate(rest.items)
        ]
        return frame.allocate(call.node, Sequence(tuple(columns), kind="iterator"))
    row = Tuple(tuple(one.any for one in found))
    prefix = tuple(map(Tuple, zip(*(one.beginning for one in found), strict=False)))
    sources = _lists_of(frame, call, found)
    return frame.allocate(
        call.node, Sequence(None, row, "iterator", prefix=prefix, filled=_all_filled(found), sources=sources)
    )


def _lists_of(frame: Frame, call: LibraryCall, found: list[Sequence]) -> tuple[Ref | None, ...]:
    """Return the list that each argument of a call is, or from which it takes its elements; None for any other."""
    return tuple(
        list_of(frame, one.value, elements) for one, elements in zip(call.arguments.positional, found, strict=True)
    )


def _all_filled(found: Iterable[Sequence]) -> Literal | bool | None:
    """Return the condition that several sequences all have an element; None if no one condition says that."""
    named = {one.has_elements for one in found} - {True}
    return named.pop() if len(named) == 1 else None if named else True


@models_call("builtins.map", "builtins.filter")
def map_(frame: Frame, call: LibraryCall) -> Value:
    """Model `map(f, xs)`: call the function on each element, and return an iterator over the results.

    Model `filter(f, xs)`: an iterator over any number of the elements.
    """
    if len(call.arguments.positional) < 2:
        return UNKNOWN
    function, *sources = call.arguments.positional
    found = [frame.iterate(one.value, one.node) for one in sources]
    if call.name == "builtins.filter":
        return frame.allocate(call.node, Sequence(None, found[0].any, "iterator"))
    known = all(one.items is not None for one in found) and call.arguments.complete
    rows = list(zip(*(one.items or () for one in found), strict=False)) if known else [tuple(one.any for one in found)]
    values = []
    for position, row in enumerate(rows):
        given = [Argument(value, source.node) for value, source in zip(row, sources, strict=False)]
        with frame.iteration(call.node, position):
            values.append(frame.call(function.value, Arguments(call.node, given), call.node))
    items = tuple(values) if known else None
    filled = found[0].has_elements if len(found) == 1 else None
    return frame.allocate(call.node, Sequence(items, join_all(values), "iterator", filled=filled))


@models_call("builtins.next")
def next_(frame: Frame, call: LibraryCall) -> Value:
    """Model `next(iterator, default)`: the first remaining element, which is removed from the iterator."""
    first = call.first
    if first is None:
        return UNKNOWN
    thing = frame.instance(first.value)
    if thing is not None:
        method = frame.get_attribute(first.value, "__next__", call.node)

        return frame.call(method, Arguments(call.node), call.node)
    found = frame.iterate(first.value, first.node)
    forget_length(frame, first.value)
    default = call.arguments.value("default", 1)
    if found.items == () and default is not None:
        return default
    if not found.items:
        return found.any if default is None or found.items is None else join(found.any, default)
    if isinstance(first.value, Ref):
        rest = (
            with_fewer_items(found) if frame.in_repeated_loop else replace(found, items=found.items[1:], sources=None)
        )
        frame.put(first.value.address, rest)
    return found.any if frame.in_repeated_loop else found.items[0]


@models_call("builtins.sum")
def sum_(frame: Frame, call: LibraryCall) -> Value:
    """Model `sum(xs, start)`: add the elements one by one."""
    first = call.first
    if first is None:
        return UNKNOWN
    found = frame.iterate(first.value, first.node)
    if found.items is not None and not found.items:
        return Const(0)
    values = list(found.items) if found.items is not None else [found.element, found.element]
    total: Value = call.arguments.positional[1].value if len(call.arguments.positional) > 1 else values.pop(0)
    for value in values:
        total = apply_binary_operator(frame, "add", Argument(total, first.node), Argument(value, first.node), call.node)
    return total


@models_call("builtins.min", "builtins.max")
def min_or_max(frame: Frame, call: LibraryCall) -> Value:
    """Model `min` and `max`: a value that may be any of the arguments, or any element of a single iterable argument."""
    if len(call.arguments.positional) == 1:
        return frame.iterate(call.arguments.positional[0].value, call.arguments.positional[0].node).any
    return join_all([one.value for one in call.arguments.positional])


@models_call("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
def dict_(frame: Frame, call: LibraryCall) -> Value:
    """Model `dict(...)`, `OrderedDict(...)` and `defaultdict(factory, ...)`: a dict of the entries passed."""
    if call.name != "collections.defaultdict":
        return frame.allocate(call.node, dict_from_arguments(frame, call.arguments))
    factory = call.first.value if call.first is not None else None
    made = dict_from_arguments(frame, replace(call.arguments, positional=call.arguments.positional[1:]))
    return frame.allocate(call.node, replace(made, factory=factory))
