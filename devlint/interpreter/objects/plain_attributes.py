"""What an nn.Module keeps without registering it: plain tensors, and containers, which `.to()` leaves behind."""

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
"""Levels of containers and submodules looked through; what refers back to itself must end somewhere."""

Mark = Callable[[Step | None], Step | None]


def mark_as_plain_attribute(frame: Frame, value: Value, place: Place, depth: int = 0, *, inside: bool = False) -> Value:
    """The value, its tensors and modules marked as kept in the plain attribute assigned at `place`: as what that
    attribute is, or inside of it.
    """
    if depth > MAX_DEPTH:
        return value
    match value:
        case Tensor(cell=None):
            return replace(value, placement=extend_provenance(value.placement, _stored(frame, place, inside=inside)))
        case Tensor(cell=address) if address is not None and not is_registered_parameter(frame, address):
            _mark_all(frame, value, _kept(frame, place, "parameters"))
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
                case Instance(held=False):
                    _mark_all(frame, value, _kept(frame, place, "modules"))
    return value


def mark_as_contained(frame: Frame, value: Value, owner: Place | None) -> Value:
    """The value as it is in a container that a module under construction keeps at `owner`, if one does."""
    return (
        mark_as_plain_attribute(frame, value, owner, inside=True)
        if owner is not None and frame.analysis.constructing
        else value
    )


def mark_as_registered(frame: Frame, value: Value) -> None:
    """A module or parameter is registered: what else keeps it does not matter, then and later."""
    _mark_all(frame, value, lambda step: step.previous if step is not None and step.kind is StepKind.KEPT else step)
    for one in alternatives(value):
        address = one.cell if isinstance(one, Tensor) else one.address if isinstance(one, Ref) else None
        thing = frame.get(address) if address is not None else None
        if address is not None and isinstance(thing, (ParameterCell, Instance)) and not thing.held:
            frame.put(address, replace(thing, held=True))


def is_registered_parameter(frame: Frame, address: AllocationSite) -> bool:
    """Whether a parameter belongs to a module already."""
    thing = frame.get(address)
    return not isinstance(thing, ParameterCell) or thing.held


def _stored(frame: Frame, place: Place, *, inside: bool) -> Mark:
    kind = StepKind.STORED_INSIDE if inside else StepKind.STORED
    where = "in" if inside else "as"
    message = f"kept {where} the plain attribute `{_attribute(place)}`, which `.to()` does not move"
    return lambda previous: Step(kind, message, place, frame.scope, previous, frame.loop)


def _kept(frame: Frame, place: Place, what: str) -> Mark:
    message = f"{what} kept in the plain container `{_attribute(place)}`, which `.to()` does not look into"
    return lambda previous: Step(StepKind.KEPT, message, place, frame.scope, previous, frame.loop)


def _attribute(place: Place) -> str:
    return place.node.attr.value if isinstance(place.node, cst.Attribute) else "..."


def _mark_all(frame: Frame, value: Value, mark: Mark, depth: int = 0) -> None:
    """Mark a parameter, or all that a module registers; what stays as it was is not written anew."""
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
                    _mark_all(frame, one, mark, depth + 1)
            cell = _marked(thing.cell, mark) if thing.cell is not None else None
            if cell is not thing.cell or any(thing.attributes[name] is not one for name, one in changed.items()):
                frame.put(address, replace(thing, attributes={**thing.attributes, **changed}, cell=cell))


T = TypeVar("T", ParameterCell, Tensor)


def _marked(thing: T, mark: Mark) -> T:
    placement = extend_provenance(thing.placement, mark)
    return thing if placement is thing.placement else replace(thing, placement=placement)
