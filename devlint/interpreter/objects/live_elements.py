"""Elements that a loop takes from a list or a dict while it runs: what the body has stored there by then counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Literal
from devlint.domain.value import Ref, Tuple, Value
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.frame import Frame

Sources = Ref | tuple[Ref | None, ...] | None
"""The list, or the dict of values, from which a loop takes its elements; or one or None for each part of an element."""


def source_of(frame: Frame, value: Value, found: Sequence) -> Sources:
    """Return the lists from which an iteration over a value takes its elements; `found` are the elements so far."""
    thing = frame.object_of(value)
    if isinstance(value, Ref) and isinstance(thing, Sequence) and thing.kind == "list" and thing.sources is None:
        return value
    return found.sources


def list_of(frame: Frame, value: Value, found: Sequence) -> Ref | None:
    """Return the one list from which an iteration over a value takes its elements whole; None if there is none."""
    sources = source_of(frame, value, found)
    return sources if isinstance(sources, Ref) else None


def has_list(sources: Sources) -> bool:
    """Return whether a loop takes its elements, or parts of them, from a list or a dict."""
    return any(isinstance(one, Ref) for one in (sources if isinstance(sources, tuple) else [sources]))


def has_ended(frame: Frame, sources: Sources, position: int) -> bool:
    """Return whether a list has become so short that a loop over it ends before the element at a position."""
    thing = frame.object_of(sources) if isinstance(sources, Ref) else None
    return isinstance(thing, Sequence) and thing.items is not None and position >= len(thing.items)


def element_at(frame: Frame, sources: Sources, position: int, before: Value) -> Value:
    """Return the element at a position as it is when a loop takes it; `before` is what it was at the loop's start."""
    match sources, before:
        case Ref(), _:
            thing = frame.object_of(sources)
            if isinstance(thing, Dict) and position < len(thing.entries):
                return [*thing.entries.values()][position]
            if not isinstance(thing, Sequence):
                return before
            if position < len(thing.beginning):
                return thing.beginning[position]
            if thing.items is None:
                return thing.element
            return thing.items[position] if position < len(thing.items) else before
        case tuple(), Tuple(items=items) if len(items) == len(sources):
            pairs = zip(sources, items, strict=True)
            return Tuple(tuple(element_at(frame, source, position, one) for source, one in pairs))
    return before


def optional_keys(frame: Frame, found: Sequence) -> Mapping[int, Hashable]:
    """Return the positions of the elements that may be missing, because the dict may lack their keys, with the keys."""
    thing = frame.object_of(found.mapping)
    if not isinstance(thing, Dict):
        return {}
    return {position: key for position, key in enumerate(thing.entries) if key in thing.optional}


def any_element(frame: Frame, sources: Sources, before: Value) -> Value:
    """Return a value for every element that a loop may still take; `before` stood for them at the loop's start."""
    match sources, before:
        case Ref(), _:
            thing = frame.object_of(sources)
            return thing.any if isinstance(thing, Sequence) and thing.items != () else before
        case tuple(), Tuple(items=items) if len(items) == len(sources):
            pairs = zip(sources, items, strict=True)
            return Tuple(tuple(any_element(frame, source, one) for source, one in pairs))
    return before


def states_without(frame: Frame, condition: Literal | None) -> list[State]:
    """Return the state of the path on which a list lacks an element; the current path goes on with a list that has it.

    The list has the element where `condition` holds, in any case if it is None.
    """
    if condition is None:
        return []
    without = frame.state.fork()
    without.assume(~condition)
    frame.state.assume(condition)
    return [without]
