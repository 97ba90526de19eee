"""Inner functions that the function which makes them returns, also in a container.

Whoever gets such a function may call it, as code outside the program may call any definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import Partial, ProgramDefinition, Tuple, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.frame import Frame

MAX_LEVELS: Final = 2
"""The number of nested containers in a returned value that are searched for functions."""


def returned_functions(frame: Frame, value: Value) -> list[FunctionInfo]:
    """Return the inner functions in a value that a function of the program has returned."""
    return list(dict.fromkeys(_inner_functions(frame, value, MAX_LEVELS)))


def _inner_functions(frame: Frame, value: Value, levels: int) -> Iterator[FunctionInfo]:
    """Yield the inner functions in a value and its containers; `levels` is the number of containers to open."""
    for one in alternatives(value):
        match one:
            case ProgramDefinition(definition=FunctionInfo() as info, receiver=None) if info.closure is not None:
                yield info
            case Partial(target=target):
                yield from _inner_functions(frame, target, levels)
            case _ if levels:
                for part in _parts(frame, one):
                    yield from _inner_functions(frame, part, levels - 1)


def _parts(frame: Frame, value: Value) -> Iterator[Value]:
    """Yield the elements, entries or attributes of a tuple or heap object; nothing for any other value."""
    match value if isinstance(value, Tuple) else frame.object_of(value):
        case Tuple(items=items):
            yield from items
        case Sequence(items=tuple() as items):
            yield from items
        case Dict(entries=entries):
            yield from entries.values()
        case Instance(attributes=attributes):
            yield from attributes.values()
