"""Strong updates: the replacement of the value that a name or an attribute holds."""

from __future__ import annotations

import libcst as cst

from devlint.domain.objects import Instance
from devlint.domain.value import AllocationSite, Ref, Unknown, Value, is_single_object
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.unknown_records import unknown_object_site, unknown_object_state


def rebind(frame: Frame, node: cst.BaseExpression, before: Value, after: Value) -> None:
    """Bind the name or attribute at the syntax node `node` to the value `after` in place of `before`.

    The new value is a more precise description of the old one, or the result of a change in place.
    """
    if after is before or after == before:
        return
    if isinstance(node, cst.Name):
        frame.bind(node.value, after)
    elif isinstance(node, cst.Attribute):
        found = _owner_of(frame, node)
        if found is not None:
            address, owner = found
            name = node.attr.value
            frame.put(address, owner.with_attribute(name, after, owner.registered.get(name)))


def held_value(frame: Frame, node: cst.BaseExpression) -> Value | None:
    """Return the value that a name or an object's attribute (`x`, `self.x`, `args.model.x`) holds.

    None for any other expression, and for an attribute that nothing has been stored under.
    """
    if isinstance(node, cst.Name):
        return frame.lookup(node.value)
    if isinstance(node, cst.Attribute):
        found = _owner_of(frame, node)
        return found[1].attributes.get(node.attr.value) if found is not None else None
    return None


def _owner_of(frame: Frame, node: cst.Attribute) -> tuple[AllocationSite, Instance] | None:
    """Return the object of which an expression reads an attribute, with its address; None if it is not on the heap.

    Of an object of unknown class, the heap holds what the program has stored in it.
    """
    match held_value(frame, node.value):
        case Ref(address=address) as reference:
            owner = frame.instance(reference)
        case Unknown(origin=origin) as unknown if origin is not None and is_single_object(origin):
            address, owner = unknown_object_site(unknown), unknown_object_state(frame, unknown)
        case _:
            return None
    return (address, owner) if owner is not None else None


def replace_value(frame: Frame, node: cst.BaseExpression, before: Value, after: Value) -> None:
    """Replace the value `before` by `after`, the result of an in-place operation on it.

    It is replaced in the name or attribute at `node`, and in all local names that hold it.
    """
    rebind(frame, node, before, after)
    for name, value in list(frame.state.names.items()):
        if value is before:
            frame.bind(name, after)
