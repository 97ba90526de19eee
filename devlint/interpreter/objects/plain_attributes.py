"""Unregistered attributes of an nn.Module: plain tensors and containers, which `.to()` leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

import libcst as cst

from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, ParameterCell, Registration, Sequence
from devlint.domain.placement import Place, Step, StepKind, extend_provenance
from devlint.domain.value import AllocationSite, ConditionalValue, Ref, Tensor, Tuple, Value
from devlint.interpreter.state.frame import Frame

MAX_DEPTH: Final = 8
"""Levels of containers and submodules that are searched; the limit ends the search in cyclic references."""

ProvenanceChange = Callable[[Step | None], Step | None]
"""A function from the provenance of a value to the provenance with one step added or removed."""


def mark_as_plain_attribute(frame: Frame, value: Value, place: Place, depth: int = 0, *, inside: bool = False) -> Value:
    """Return a value whose provenance records that the plain attribute assigned at `place` keeps it.

    The tensors and modules inside are marked; heap objects are updated in place. `inside` is true for the contents of a
    container in that attribute.
    """
    if depth > MAX_DEPTH:
        return value
    match value:
        case Tensor(cell=None):
            return replace(
                value, placement=extend_provenance(value.placement, _stored_mark(frame, place, inside=inside))
            )
        case Tensor(cell=address) if address is not None and not is_registered_parameter(frame, address):
            _apply_mark(frame, value, _kept_mark(frame, place, "parameters"))
        case Tuple(items=items):
            return replace(
                value, items=tuple(mark_as_plain_attribute(frame, one, place, depth + 1, inside=True) for one in items)
            )
        case ConditionalValue(yes=yes, no=no):
            yes = mark_as_plain_attribute(frame, yes, place, depth + 1, inside=inside)
            return replace(value, yes=yes, no=mark_as_plain_attribute(frame, no, place, depth + 1, inside=inside))
        case Ref(address=address):
            within = partial(mark_as_plain_attribute, frame, place=place, depth=depth + 1, inside=True)
            match frame.get(address):
                case Sequence() as thing:
                    known = tuple(within(one) for one in thing.items) if thing.items is not None else None
                    frame.put(address, replace(thing, items=known, element=within(thing.element), owner=place))
                case Dict() as thing:
                    entries = {key: within(one) for key, one in thing.entries.items()}
                    rest = within(thing.element) if thing.element is not None else None
                    frame.put(address, replace(thing, entries=entries, element=rest, owner=place))
                case Instance(has_parent_module=False):
                    _apply_mark(frame, value, _kept_mark(frame, place, "modules"))
    return value


def mark_as_contained(frame: Frame, value: Value, owner: Place | None) -> Value:
    """Return a value marked as stored in a container that a module under construction keeps at `owner`.

    Without an owner, or outside of construction, the value is returned as it is.
    """
    return (
        mark_as_plain_attribute(frame, value, owner, inside=True)
        if owner is not None and frame.analysis.construction_depth
        else value
    )


def mark_as_registered(frame: Frame, value: Value) -> None:
    """Mark a module or parameter as registered, so that plain containers that also hold it do not matter.

    This holds for containers that are filled before as well as after.
    """
    _apply_mark(frame, value, lambda step: step.previous if step is not None and step.kind is StepKind.KEPT else step)
    for one in alternatives(value):
        address = one.cell if isinstance(one, Tensor) else one.address if isinstance(one, Ref) else None
        thing = frame.get(address) if address is not None else None
        if address is not None and isinstance(thing, (ParameterCell, Instance)) and not thing.has_parent_module:
            frame.put(address, replace(thing, has_parent_module=True))


def is_registered_parameter(frame: Frame, address: AllocationSite) -> bool:
    """Return whether a parameter belongs to a module already; true for anything but a free-standing parameter."""
    thing = frame.get(address)
    return not isinstance(thing, ParameterCell) or thing.has_parent_module


def _stored_mark(frame: Frame, place: Place, *, inside: bool) -> ProvenanceChange:
    """Return a function that adds the step of storing a tensor in a plain attribute to the tensor's provenance.

    `inside` is true for a tensor in a container that the attribute holds.
    """
    kind = StepKind.STORED_INSIDE if inside else StepKind.STORED
    where = "in" if inside else "as"
    message = f"kept {where} the plain attribute `{_attribute_name(place)}`, which `.to()` does not move"
    return lambda previous: Step(kind, message, place, frame.scope, previous, frame.loop)


def _kept_mark(frame: Frame, place: Place, what: str) -> ProvenanceChange:
    """Return a function that adds to a provenance the step of keeping parameters or modules in a plain container.

    `what` names the kind of contents for the message.
    """
    message = f"{what} kept in the plain container `{_attribute_name(place)}`, which `.to()` does not look into"
    return lambda previous: Step(StepKind.KEPT, message, place, frame.scope, previous, frame.loop)


def _attribute_name(place: Place) -> str:
    """Return the name of the attribute assigned at a place, for messages."""
    return place.node.attr.value if isinstance(place.node, cst.Attribute) else "..."


def _apply_mark(frame: Frame, value: Value, mark: ProvenanceChange, depth: int = 0) -> None:
    """Change the provenance of a parameter, or of all parameters and buffers that a module registers, by a function.

    Objects that the function does not change are not written to the heap again.
    """
    match value:
        case Tensor(cell=address) if address is not None:
            cell = frame.get(address)
            if isinstance(cell, ParameterCell) and (marked := _marked(cell, mark)) is not cell:
                frame.put(address, marked)
        case Ref(address=address):
            thing = frame.get(address)
            if not isinstance(thing, Instance) or depth > MAX_DEPTH:
                return
            changed: dict[str, Value] = {}
            for name, kind in thing.registered.items():
                part = thing.attributes.get(name)
                if kind is Registration.BUFFER and isinstance(part, Tensor):
                    changed[name] = _marked(part, mark)
                for one in alternatives(part) if part is not None else ():
                    _apply_mark(frame, one, mark, depth + 1)
            cell = _marked(thing.cell, mark) if thing.cell is not None else None
            if cell is not thing.cell or any(thing.attributes[name] is not one for name, one in changed.items()):
                frame.put(address, replace(thing, attributes={**thing.attributes, **changed}, cell=cell))


T = TypeVar("T", ParameterCell, Tensor)
"""A value with a placement, whose provenance can be marked."""


def _marked(thing: T, mark: ProvenanceChange) -> T:
    """Return a parameter cell or a tensor with its provenance changed by `mark`.

    When `mark` changes nothing, the same object is returned.
    """
    placement = extend_provenance(thing.placement, mark)
    return thing if placement is thing.placement else replace(thing, placement=placement)
