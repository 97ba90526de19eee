"""Search for tensors, opaque batches and modules among values and inside their containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import Step, placement_cases
from devlint.domain.value import OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.module_state import is_module
from devlint.interpreter.state.frame import Frame

MAX_LEVELS: Final = 3
"""The number of nested containers that are opened.

Batches are dicts of lists of tensors; the limit also ends the search in a list that contains itself.
"""


def contained_tensors(frame: Frame, values: Iterable[Value], levels: int = MAX_LEVELS) -> Iterator[Value]:
    """Yield the tensors, opaque batches and modules among the values and inside their containers.

    A module is yielded as one value and not searched. `levels` is the number of nested containers to open.
    """
    for value in values:
        if isinstance(value, (Tensor, OpaqueData)) or (isinstance(value, Ref) and is_module(frame, value)):
            yield value
        elif levels and isinstance(value, (Ref, Tuple)):
            yield from contained_tensors(frame, _direct_contents(frame, value), levels - 1)


def _direct_contents(frame: Frame, value: Value) -> Iterable[Value]:
    """Return the items, entries or attributes directly inside a tuple or heap object; nothing for any other value."""
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


def placing_steps(data: Iterable[Value]) -> Iterator[Step]:
    """Yield the steps that put tensors and opaque batches on their devices."""
    for value in data:
        if isinstance(value, (Tensor, OpaqueData)):
            yield from (
                leaf.placing_step for _, leaf in placement_cases(value.placement) if leaf.placing_step is not None
            )
