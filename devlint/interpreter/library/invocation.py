"""Library calls by name: hand-written models first, then the table's rows, else unknown."""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import (
    UNKNOWN,
    Array,
    Const,
    DeviceType,
    DeviceValue,
    LibraryName,
    OpaqueData,
    Partial,
    ProgramDefinition,
    Ref,
    Size,
    StringPrefix,
    Tensor,
    Tuple,
    TypeName,
    Value,
)
from devlint.interpreter.library.table_calls import by_table
from devlint.interpreter.objects.module_state import is_module, library_class_name
from devlint.interpreter.objects.tensor_containers import is_tensor_container
from devlint.interpreter.operations.device_arguments import report_hard_coded_arguments
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import _MODELS


def invoke(frame: Frame, invocation: LibraryCall) -> Value:
    """The value of a library call."""
    if invocation.receiver is None and invocation.name.startswith("torch."):
        report_hard_coded_arguments(frame, invocation.name, invocation.arguments)
    for name in names_of(frame, invocation):
        found = _MODELS.get(name)
        if found is not None:
            return found(frame, invocation)
    return by_table(frame, invocation)


OWNERS: Final[dict[type, tuple[str, ...]]] = {
    Tensor: ("Tensor",),
    OpaqueData: ("OpaqueData", "Tensor"),
    Array: ("ndarray",),
    StringPrefix: ("str",),
    DeviceType: ("str",),
    TypeName: ("str",),
    Tuple: ("tuple", "list"),
    Size: ("tuple", "list"),
    DeviceValue: ("device",),
    ProgramDefinition: ("class",),
}
"""The types under whose names the methods of a kind of value are registered, most specific first."""


def names_of(frame: Frame, invocation: LibraryCall) -> list[str]:
    """The names under which a call may be registered, most specific first."""
    receiver, name = invocation.receiver, invocation.name
    if receiver is None:
        return [name]
    owners = OWNERS.get(type(receiver))
    if owners is not None:
        return [f"{owner}.{name}" for owner in owners]
    match receiver:
        case Const(value=str()):
            return [f"str.{name}"]
        case Partial(target=LibraryName(name=made_of)):
            return [f"{made_of}.{name}"]
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                return [f"{thing.kind}.{name}", f"list.{name}"]
            if isinstance(thing, Dict):
                return [f"dict.{name}"]
            if isinstance(thing, Instance):
                return _instance_names(frame, receiver, thing, name)
    return []


def _instance_names(frame: Frame, receiver: Value, thing: Instance, name: str) -> list[str]:
    if is_module(frame, receiver):
        return [f"{library_class_name(frame, thing)}.{name}", f"Module.{name}"]
    if is_tensor_container(frame, receiver):
        return [f"TensorContainer.{name}"]
    if isinstance(thing.cls, str):
        return [f"{thing.cls}.{name}", f"{thing.cls.rpartition('.')[0]}.*.{name}"]
    return [f"object.{name}"]


def unknown(frame: Frame, invocation: LibraryCall) -> Value:
    """A call nothing is known of."""
    return UNKNOWN
