"""Models of the `copy` module: shallow and deep copies, including modules and their parameters."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.objects import Dict, Instance, ParameterCell, Sequence
from devlint.domain.storage import Storage
from devlint.domain.value import UNKNOWN, AllocationSite, Array, Ref, Tensor, Tuple, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("copy.deepcopy", "copy.copy")
def copy_value(frame: Frame, call: LibraryCall) -> Value:
    """Model `copy.copy(x)` and `copy.deepcopy(x)`: a copy with the same placements.

    A deep copy of a module has parameters of its own.
    """
    first = call.first
    if first is None:
        return UNKNOWN
    return (
        deep_copy(frame, first.value, call.node)
        if call.name == "copy.deepcopy"
        else _shallow_copy(frame, first.value, call)
    )


def deep_copy(frame: Frame, value: Value, node: cst.CSTNode) -> Value:
    """Return a deep copy of a value, with copies of all heap objects reachable from the value."""
    return _clone_graph(frame, value, node, {})


def _shallow_copy(frame: Frame, value: Value, call: LibraryCall) -> Value:
    """Return a shallow copy of a container or object; any other value is returned as given."""
    thing = frame.object_of(value)
    return frame.allocate(call.node, thing) if isinstance(thing, (Sequence, Dict, Instance)) else value


def _clone_graph(frame: Frame, value: Value, node: cst.CSTNode, seen: dict[AllocationSite, AllocationSite]) -> Value:
    """Return a deep copy of a value; `seen` maps the addresses of objects copied already to those of their copies."""
    match value:
        case Ref(address=address):
            return Ref(_clone_object(frame, address, node, seen))
        case Tensor(cell=cell) if cell is not None:
            return replace(frame.resolve(value), cell=_clone_object(frame, cell, node, seen))
        case Tensor() | Array():
            return replace(value, memory=Storage())
        case Tuple(items=items):
            return replace(value, items=tuple(_clone_graph(frame, one, node, seen) for one in items))
    return value


def _clone_object(
    frame: Frame, address: AllocationSite, node: cst.CSTNode, seen: dict[AllocationSite, AllocationSite]
) -> AllocationSite:
    """Copy the heap object at an address and all that is reachable from the object; return the address of the copy."""
    if address in seen:
        return seen[address]
    copy = seen[address] = AllocationSite(("copy", id(node), address), frame.context)
    thing = frame.get(address)
    match thing:
        case Sequence():
            items = (
                tuple(_clone_graph(frame, one, node, seen) for one in thing.items) if thing.items is not None else None
            )
            prefix = tuple(_clone_graph(frame, one, node, seen) for one in thing.prefix)
            rest = _clone_graph(frame, thing.element, node, seen)
            thing = replace(thing, items=items, element=rest, prefix=prefix, optional=())
        case Dict():
            entries = {key: _clone_graph(frame, one, node, seen) for key, one in thing.entries.items()}
            element = _clone_graph(frame, thing.element, node, seen) if thing.element is not None else None
            thing = replace(thing, entries=entries, element=element)
        case Instance():
            thing = replace(
                thing, attributes={name: _clone_graph(frame, one, node, seen) for name, one in thing.attributes.items()}
            )
        case ParameterCell() | None:
            pass
    if thing is not None:
        frame.put(copy, thing)
    return copy
