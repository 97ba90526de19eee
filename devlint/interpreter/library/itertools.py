"""Models of `itertools`: iterators over combinations of other iterables' elements."""

from __future__ import annotations

from devlint.domain.join import join
from devlint.domain.objects import Sequence, join_all
from devlint.domain.value import NONE, UNKNOWN, Ref, Tuple, Value
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


def _elements(frame: Frame, given: list[Argument]) -> list[Sequence]:
    """Return the elements of the iterables passed to a function of `itertools`: one sequence for each iterable."""
    return [frame.iterate(one.value, one.node) for one in given]


def _iterator(frame: Frame, call: LibraryCall, element: Value, items: tuple[Value, ...] | None = None) -> Ref:
    """Allocate an iterator object on the abstract heap, for the result of a call of `itertools`.

    It yields `items` where these are known, else any number of values that the one value `element` describes.
    """
    return frame.allocate(call.node, Sequence(items, element, "iterator"))


@models_call("itertools.chain", "itertools.chain.from_iterable")
def chain(frame: Frame, call: LibraryCall) -> Value:
    """Model `chain(xs, ys)` and `chain.from_iterable(xss)`: the elements of all iterables, in order."""
    parts = _elements(frame, call.arguments.positional)
    if call.name.endswith("from_iterable") and call.first is not None:
        outer = parts[0]
        inner = outer.items if outer.items is not None else (outer.element,)
        parts = _elements(frame, [Argument(one, call.first.node) for one in inner])
        if outer.items is None:
            parts = [Sequence(None, one.any) for one in parts]
    if call.arguments.complete and all(one.items is not None for one in parts):
        return _iterator(frame, call, UNKNOWN, tuple(item for one in parts for item in one.items or ()))
    return _iterator(frame, call, join_all([one.any for one in parts]) if call.arguments.complete else UNKNOWN)


@models_call("itertools.product", "itertools.pairwise", "itertools.combinations", "itertools.permutations",
       "itertools.combinations_with_replacement")  # fmt: skip
def tuples_of_elements(frame: Frame, call: LibraryCall) -> Value:
    """Model `product`, `pairwise`, `combinations` and `permutations`: tuples of elements, of known length."""
    given = call.arguments.positional
    if call.name == "itertools.product":
        times = call.arguments.constant("repeat", default=1)
        row = [one.any for one in _elements(frame, given)] * (times if isinstance(times, int) else 0)
        return _iterator(frame, call, Tuple(tuple(row)) if row else UNKNOWN)
    length = 2 if call.name == "itertools.pairwise" else call.arguments.constant("r", 1, default=...)
    if not given or not isinstance(length, int):
        return UNKNOWN
    return _iterator(frame, call, Tuple((_elements(frame, given[:1])[0].any,) * length))


@models_call("itertools.zip_longest")
def zip_longest(frame: Frame, call: LibraryCall) -> Value:
    """Model `zip_longest(xs, ys)`: tuples of one element of each iterable, or the fill value if lengths may differ."""
    found = _elements(frame, call.arguments.positional)
    lengths = {len(one.items) if one.items is not None else None for one in found}
    fill = call.arguments.value("fillvalue") or NONE
    even = len(lengths) == 1 and None not in lengths
    return _iterator(frame, call, Tuple(tuple(one.any if even else join(one.any, fill) for one in found)))


@models_call("itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse")
def filtered_elements(frame: Frame, call: LibraryCall) -> Value:
    """Model `takewhile(f, xs)`, `dropwhile` and `filterfalse`: some elements of the second argument."""
    found = _elements(frame, call.arguments.positional[1:2])
    return _iterator(frame, call, found[0].any) if found else UNKNOWN


@models_call("itertools.repeat", "itertools.compress")
def repeat_or_compress(frame: Frame, call: LibraryCall) -> Value:
    """Model `repeat(x)`: an iterator over the same value again and again.

    Model `compress(xs, selectors)`: an iterator over some of the elements of `xs`.
    """
    if call.first is None:
        return UNKNOWN
    again = call.name == "itertools.repeat"
    return _iterator(frame, call, call.first.value if again else frame.iterate(call.first.value, call.first.node).any)


@models_call("itertools.starmap")
def starmap(frame: Frame, call: LibraryCall) -> Value:
    """Model `starmap(f, rows)`: call the function once, with one abstract row that describes every row."""
    if len(call.arguments.positional) < 2:
        return UNKNOWN
    function, source = call.arguments.positional[:2]
    row = frame.iterate(frame.iterate(source.value, source.node).any, source.node)
    if row.items is None:
        return UNKNOWN
    given = [Argument(one, source.node) for one in row.items]
    return _iterator(frame, call, frame.call(function.value, Arguments(call.node, given), call.node))


@models_call("itertools.groupby")
def groupby(frame: Frame, call: LibraryCall) -> Value:
    """Model `groupby(xs)`: pairs of an unknown key and an iterator over any number of the elements."""
    if call.first is None:
        return UNKNOWN
    found = frame.iterate(call.first.value, call.first.node)
    group = frame.allocate(call.node, Sequence(None, found.any, "iterator"), "group")
    return _iterator(frame, call, Tuple((UNKNOWN, group)))


@models_call("itertools.tee")
def tee(frame: Frame, call: LibraryCall) -> Value:
    """Model `tee(xs, n)`: a tuple of n iterators over the same elements."""
    times = call.arguments.constant("n", 1, default=2)
    if call.first is None or not isinstance(times, int):
        return UNKNOWN
    found = frame.iterate(call.first.value, call.first.node)
    return Tuple(tuple(frame.allocate(call.node, found, f"tee {i}") for i in range(times)))
