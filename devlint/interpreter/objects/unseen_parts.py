"""Parts of a library's module that devlint cannot see into, such as `model.model.layers`, and what befalls them.

The placement of such a module stands for all of its parts. It is unknown as soon as one of them may lie elsewhere.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives
from devlint.domain.objects import Instance
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.record import replace
from devlint.domain.value import (
    BoundLibraryMethod,
    OpaqueData,
    Ref,
    Tensor,
    Unknown,
    Value,
)
from devlint.interpreter.objects.class_hierarchy import defined_class, library_base
from devlint.interpreter.objects.library_objects import find_member_row
from devlint.interpreter.objects.module_containers import any_submodule, module_of_part
from devlint.interpreter.objects.module_state import (
    CONTAINERS,
    is_module,
    move_registered_tensors,
    placement_of_module,
)
from devlint.interpreter.program.usage_evidence import MODULE_ONLY, TENSOR_ONLY
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import find_call_model

_TENSORS_OF_LAYERS: Final = frozenset({"weight", "bias", "data", "grad"})
"""The names under which the layers of torch keep their tensors, and what a parameter keeps: they are no modules."""


def has_unseen_parts(frame: Frame, owner: Value) -> bool:
    """Return whether a value is a module whose parts a library has made, so that they are not known one by one."""
    thing = frame.instance(owner)
    if thing is None or thing.cell is None or not is_module(frame, owner):
        return False
    info = defined_class(thing.cls)
    return thing.cls not in CONTAINERS if info is None else library_base(frame, info) not in (None, *CONTAINERS)


def as_unseen_part(frame: Frame, value: Value) -> Value:
    """Return an attribute of a library's module that is no known method as the value of a part; others unchanged."""
    match value:
        case BoundLibraryMethod(receiver=Ref() as owner, name=name) if has_unseen_parts(frame, owner):
            if not _is_method(frame, owner, name):
                return Unknown(("attr", any_submodule(owner).origin, name), name)
    return value


def _is_method(frame: Frame, owner: Ref, name: str) -> bool:
    """Return whether an attribute of a library's module is a method that the tables or the models know."""
    return (
        name in MODULE_ONLY
        or name.startswith("__")
        or find_call_model(f"Module.{name}") is not None
        or find_member_row(frame, owner, name) is not None
    )


def is_tensor_of_part(value: Unknown) -> bool:
    """Return whether a part of a module is a tensor by its name, which a transfer copies and leaves where it is."""
    origin = value.origin
    return isinstance(origin, tuple) and origin[0] == "attr" and origin[2] in _TENSORS_OF_LAYERS | TENSOR_ONLY


def forget_inside(frame: Frame, owner: Ref) -> None:
    """Make unknown where the parts of a library's module lie; what the program itself has given it stays known."""
    thing = frame.instance(owner)
    if thing is not None and thing.cell is not None:
        frame.put(owner.address, replace(thing, cell=replace(thing.cell, placement=UNKNOWN_PLACEMENT)))


def forget_if_stored(frame: Frame, owner: Ref, value: Value) -> None:
    """Forget where the parts of a library's module lie if the program stores in it what may lie elsewhere.

    A new module of the program's own does not change where the other parts are; a wrapper of a part may be anything.
    """
    if any(_may_lie_elsewhere(frame, owner, one) for one in alternatives(value)):
        forget_inside(frame, owner)


def forget_part(frame: Frame, part: Value, value: Value) -> None:
    """Make unknown where a module's parameters lie if a part of unknown name is given a tensor from elsewhere."""
    module = module_of_part(part)
    if module is not None and isinstance(value, (Tensor, Unknown)) and _may_lie_elsewhere(frame, module, value):
        move_registered_tensors(frame, module, lambda before, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))


def _may_lie_elsewhere(frame: Frame, owner: Ref, value: Value) -> bool:
    """Return whether a value that is stored in a module may be a part that lies elsewhere than the others."""
    if isinstance(value, Tensor):
        return frame.resolve(value).placement != placement_of_module(frame, owner)
    if isinstance(as_unseen_part(frame, value), (Unknown, OpaqueData)):
        return True
    thing = frame.instance(value)
    return (
        isinstance(thing, Instance)
        and is_module(frame, value)
        and any(module_of_part(as_unseen_part(frame, held)) is not None for held in thing.attributes.values())
    )
