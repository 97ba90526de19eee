"""Plain attributes of an nn.Module: tensors and containers that are not registered, which `.to()` leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import libcst as cst

from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, ParameterCell, Registration, Sequence
from devlint.domain.placement import Place, Step, StepKind, extend_provenance
from devlint.domain.record import replace
from devlint.domain.value import AllocationSite, ConditionalValue, Ref, Tensor, Tuple, Value
from devlint.interpreter.state.frame import Frame

MAX_DEPTH: Final = 8
"""Levels of containers and submodules that are searched; the limit ends the search in cyclic references."""

ProvenanceChange = Callable[[Step | None], Step | None]
"""A function from the provenance of a value to the provenance with one step added or removed."""


def mark_as_plain_attribute(frame: Frame, value: Value, place: Place, depth: int = 0, *, inside: bool = False) -> Value:
    """Return a value whose provenance records that a plain attribute of a module keeps the value.

    `place` is the source location of the assignment to the attribute. The tensors and modules inside the value are
    marked too; heap objects are updated in place. `inside` is true for the contents of a container in that attribute.
    """
    if depth > MAX_DEPTH:
        return value
    match value:
        case Tensor(cell=None):
            return replace(
                value, placement=extend_provenance(value.placement, _stored_mark(frame, place, inside=inside))
            )
        case Tensor(cell=address) if address is not None and not is_registered_parameter(frame, address):
            _change_provenances(frame, value, _kept_mark(frame, place, "parameters"))
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
                    prefix = tuple(map(within, thing.prefix))
                    after = replace(thing, items=known, element=within(thing.element), prefix=prefix, owner=place)
                    frame.put(address, after)
                case Dict() as thing:
                    entries = {key: within(one) for key, one in thing.entries.items()}
                    rest = within(thing.element) if thing.element is not None else None
                    frame.put(address, replace(thing, entries=entries, element=rest, owner=place))
                case Instance(has_parent_module=False):
                    _change_provenances(frame, value, _kept_mark(frame, place, "modules"))
    return value


def mark_as_contained(frame: Frame, value: Value, owner: Place | None) -> Value:
    """Return a value after it has been stored in a plain container of a module, with that step in its provenance.

    `owner` is the source location of the assignment that keeps the container in the module. Without an owner, or when
    no constructor is running, the value is returned as it is.
    """
    return (
        mark_as_plain_attribute(frame, value, owner, inside=True)
        if owner is not None and frame.analysis.construction_depth
        else value
    )


def mark_as_registered(frame: Frame, value: Value) -> None:
    """Record that a module or parameter is registered in a module, and so moves with that module.

    The step of being kept in a plain container, such as a list, is removed from its provenance and not added again.
    """
    _change_provenances(
        frame, value, lambda step: step.previous if step is not None and step.kind is StepKind.KEPT else step
    )
    for one in alternatives(value):
        address = one.cell if isinstance(one, Tensor) else one.address if isinstance(one, Ref) else None
        thing = frame.get(address) if address is not None else None
        if address is not None and isinstance(thing, (ParameterCell, Instance)) and not thing.has_parent_module:
            frame.put(address, replace(thing, has_parent_module=True))


def is_registered_parameter(frame: Frame, address: AllocationSite) -> bool:
    """Return whether a parameter is registered in a module.

    True also for an address that is not that of a parameter made by `nn.Parameter(...)`.
    """
    thing = frame.get(address)
    return not isinstance(thing, ParameterCell) or thing.has_parent_module


def _stored_mark(frame: Frame, place: Place, *, inside: bool) -> ProvenanceChange:
    """Return a function that adds a step to a tensor's provenance: the tensor is stored in a plain attribute.

    `inside` is true for a tensor in a container that the attribute holds.
    """
    kind = StepKind.STORED_INSIDE if inside else StepKind.STORED
    where = "in" if inside else "as"
    message = f"kept {where} the plain attribute `{attribute_name(place)}`, which `.to()` does not move"
    return lambda previous: Step(kind, message, place, frame.scope, previous, frame.loop)


def _kept_mark(frame: Frame, place: Place, what: str) -> ProvenanceChange:
    """Return a function that adds a step to a provenance: parameters or modules are kept in a plain container.

    `what` names the kind of contents for the step's message.
    """
    message = f"{what} kept in the plain container `{attribute_name(place)}`, which `.to()` does not look into"
    return lambda previous: Step(StepKind.KEPT, message, place, frame.scope, previous, frame.loop)


def attribute_name(place: Place) -> str:
    """Return the name of the attribute that is assigned at a source location, or `...` if it has none."""
    return place.node.attr.value if isinstance(place.node, cst.Attribute) else "..."


def _change_provenances(frame: Frame, value: Value, mark: ProvenanceChange, depth: int = 0) -> None:
    """Change the provenance of a parameter, or of all tensors registered in a module, by the function `mark`.

    Objects that the function does not change are not written to the heap again.
    """
    match value:
        case Tensor(cell=address) if address is not None:
            cell = frame.get(address)
            if isinstance(cell, ParameterCell) and (marked := _with_changed_provenance(cell, mark)) is not cell:
                frame.put(address, marked)
        case Ref(address=address):
            thing = frame.get(address)
            if not isinstance(thing, Instance) or depth > MAX_DEPTH:
                return
            changed: dict[str, Value] = {}
            for name, kind in thing.registered.items():
                part = thing.attributes.get(name)
                if kind is Registration.BUFFER and isinstance(part, Tensor):
                    changed[name] = _with_changed_provenance(part, mark)
                for one in alternatives(part) if part is not None else ():
                    _change_provenances(frame, one, mark, depth + 1)
            cell = _with_changed_provenance(thing.cell, mark) if thing.cell is not None else None
            if cell is not thing.cell or any(thing.attributes[name] is not one for name, one in changed.items()):
                frame.put(address, replace(thing, attributes={**thing.attributes, **changed}, cell=cell))


T = TypeVar("T", ParameterCell, Tensor)
"""A value with a placement, whose provenance can be marked."""


def _with_changed_provenance(thing: T, mark: ProvenanceChange) -> T:
    """Return a parameter's heap record or a tensor, with the steps of its provenance changed by the function `mark`.

    When `mark` changes nothing, the same object is returned.
    """
    placement = extend_provenance(thing.placement, mark)
    return thing if placement is thing.placement else replace(thing, placement=placement)
