"""What an object holds when a program asks by `reveal_placement`: a module's tensors, or the parts of a container."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Final

from devlint.domain.objects import Dict, Sequence
from devlint.domain.value import UNKNOWN, Ref, Tuple, Value
from devlint.interpreter.objects.module_state import is_module, module_tensors
from devlint.interpreter.state.events import ContainerParts, ModuleTensors
from devlint.interpreter.state.frame import Frame

_MAX_PARTS: Final = 8
"""The most parts of one container that are told."""
_MAX_DEPTH: Final = 3
"""The most containers inside each other whose parts are told; it ends a container that holds itself, too."""
_TOLD: Final = frozenset({"list", "set", "deque"})
"""The sequences whose elements are told: who asks an iterator for them takes them."""


def revealed_contents(frame: Frame, value: Value, depth: int = _MAX_DEPTH) -> ModuleTensors | ContainerParts | None:
    """Return what is known of the tensors in a module, list, dict or tuple of those; None for any other value."""
    if depth and isinstance(value, Tuple):
        if not any(isinstance(one, Ref) for one in value.items):
            return None
        return _parts(frame, "tuple", enumerate(value.items), depth, is_whole=True)
    if not depth or not isinstance(value, Ref):
        return None
    if is_module(frame, value):
        parameters = tuple(frame.resolve(tensor) for _, tensor in module_tensors(frame, value))
        buffers = tuple(frame.resolve(tensor) for _, tensor in module_tensors(frame, value, buffers=True))
        return ModuleTensors(parameters, buffers)
    match frame.get(value.address):
        case Dict(entries=entries, element=element, is_open=is_open):
            is_whole = element is None and not is_open
            return _parts(frame, "dict", [*entries.items(), *_others(element)], depth, is_whole=is_whole)
        case Sequence(kind=kind, items=items, element=element) if kind in _TOLD:
            found = enumerate(items) if items is not None else _others(element)
            return _parts(frame, kind, found, depth, is_whole=items is not None)
    return None


def _others(element: Value | None) -> Iterable[tuple[Hashable, Value]]:
    """Return what stands for the parts under unknown keys as one part under the key `...`; empty if nothing does."""
    return [] if element is None or element == UNKNOWN else [(..., element)]


def _parts(
    frame: Frame, kind: str, parts: Iterable[tuple[Hashable, Value]], depth: int, *, is_whole: bool
) -> ContainerParts:
    """Return the record of a container's parts, each as it is now; of many, the first ones."""
    given = list(islice(parts, _MAX_PARTS + 1))
    told = []
    for key, value in given[:_MAX_PARTS]:
        value = frame.resolve_value(value)
        told.append((key, value, revealed_contents(frame, value, depth - 1)))
    return ContainerParts(kind, tuple(told), is_whole and len(given) <= _MAX_PARTS)
