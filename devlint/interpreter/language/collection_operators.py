"""Operators on dicts, lists and tuples: `+`, `*`, `|`, and the in-place `+=` and `|=`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Dict, Sequence, filled_by_either
from devlint.domain.optional_items import more_items
from devlint.domain.record import replace
from devlint.domain.value import Const, Ref, Tuple, Value
from devlint.interpreter.objects.collections import merge_dicts
from devlint.interpreter.state.frame import Frame

MAX_REPEATED: Final = 8
"""The length up to which `[x] * n` is a list of known elements, which a program may set one by one."""


def combine_collections(frame: Frame, method: str, left: Value, right: Value, node: cst.CSTNode) -> Value | None:
    """Return the value of `+`, `*` or `|` on dicts, lists and tuples; None for other operands."""
    one, other = as_collection(frame, left), as_collection(frame, right)
    if method == "or" and isinstance(one, Dict) and isinstance(other, Dict):
        return frame.allocate(node, merge_dicts(one, other))
    if method == "add" and isinstance(one, Sequence) and isinstance(other, Sequence):
        if one.items is not None and other.items is not None:
            return _allocate_result(frame, Sequence((*one.items, *other.items), kind=one.kind), node)
        both = Sequence(None, join(one.any, other.any), one.kind, filled=filled_by_either(one, other))
        return _allocate_result(frame, both, node)
    if method == "mul":
        for thing, times in ((one, right), (other, left)):
            if isinstance(thing, Sequence):
                number = times.value if isinstance(times, Const) else None
                items = thing.items if thing.items is not None and isinstance(number, int) else ()
                if items and isinstance(number, int) and len(items) * number <= MAX_REPEATED:
                    return _allocate_result(frame, replace(thing, items=items * number, owner=None), node)
                filled = thing.has_elements if isinstance(number, int) and number > 0 else None
                return _allocate_result(frame, Sequence(None, thing.any, thing.kind, filled=filled), node)
    return None


def as_collection(frame: Frame, value: Value) -> object:
    """Return the heap object for a dict or list that a value refers to; for a tuple, one made from the tuple.

    The result is None for any other value.
    """
    if isinstance(value, Tuple):
        return Sequence(value.items, kind="tuple")
    return frame.object_of(value)


def _allocate_result(frame: Frame, thing: Sequence, node: cst.CSTNode) -> Value:
    """Return the list or tuple that an operator such as `+` makes: a tuple value if it is a tuple of known elements.

    Otherwise the result is a reference to a new heap object.
    """
    return Tuple(thing.items) if thing.kind == "tuple" and thing.items is not None else frame.allocate(node, thing)


def extend_in_place(frame: Frame, target: Ref, value: Value) -> Value | None:
    """Extend a list in place (`list += more`) and return it; None if the operands are not both sequences."""
    thing = frame.get(target.address)
    more = frame.object_of(value)
    if not isinstance(thing, Sequence) or not isinstance(more, Sequence):
        return None
    if thing.items is not None and more.items is not None and not frame.in_repeated_loop:
        frame.put(target.address, replace(thing, items=(*thing.items, *more.items)))
    else:
        element = join(thing.any, more.any) if thing.items != () else more.any
        filled = filled_by_either(thing, more)
        once = more.items is not None and not frame.in_repeated_loop
        optional = more_items(thing.conditional_items, more.items or ()) if once else ()
        after = replace(thing, items=None, element=element, filled=filled, prefix=thing.beginning, optional=optional)
        frame.put(target.address, after)
    return target


def update_in_place(frame: Frame, target: Ref, value: Value) -> Value | None:
    """Update a dict in place (`dict |= more`) and return it; None if the operands are not both dicts."""
    thing = frame.get(target.address)
    more = frame.object_of(value)
    if not isinstance(thing, Dict) or not isinstance(more, Dict):
        return None
    frame.put(target.address, merge_dicts(thing, more))
    return target
