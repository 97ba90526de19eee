"""The tensors, batches and modules that values are, or hold inside containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import OpaqueData, Tensor, Tuple, Value
from devlint.interpreter.objects.module_state import is_module
from devlint.interpreter.state.frame import Frame

MAX_LEVELS: Final = 3
"""Containers looked into one inside another. Batches are dicts of lists of tensors; a list can also hold itself."""


def contained_tensors(frame: Frame, values: Iterable[Value], levels: int = MAX_LEVELS) -> Iterator[Value]:
    """What is, or holds, data on a device; a module stands for all that it holds."""
    for value in values:
        if isinstance(value, (Tensor, OpaqueData)) or is_module(frame, value):
            yield value
        elif levels:
            yield from contained_tensors(frame, _parts(frame, value), levels - 1)


def _parts(frame: Frame, value: Value) -> Iterable[Value]:
    if isinstance(value, Tuple):
        return value.items
    thing = frame.object_of(value)
    match thing:
        case Sequence(items=items, element=element):
            return items if items is not None else (element,)
        case Dict(entries=entries, element=element):
            return (*entries.values(), *(() if element is None else (element,)))
        case Instance(attributes=attributes, contents=contents):
            return attributes.values() if contents is None else (*attributes.values(), contents)
    return ()
