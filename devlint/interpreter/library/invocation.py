"""Dispatch of library calls by name: a hand-written model if there is one, else a row of devlint's semantics table.

The result of any other call is unknown.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.value import (
    UNKNOWN,
    Array,
    Const,
    DeviceString,
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
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.objects.module_state import is_module, library_class_name
from devlint.interpreter.objects.tensor_containers import is_tensor_container
from devlint.interpreter.operations.hard_coded_devices import report_hard_coded_arguments
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import _MODELS
from devlint.semantics.keywords import taken_keywords


def invoke(frame: Frame, invocation: LibraryCall) -> Value:
    """Return the value of a library call: by its hand-written model if one is registered, else by the table.

    A call may have models under several names, such as those of its class and of a base class; the most specific
    counts. The table is devlint's semantics table, which has a row for each known function.
    """
    if invocation.receiver is None and invocation.name.startswith("torch."):
        report_hard_coded_arguments(frame, invocation.name, invocation.arguments)
    elif invocation.receiver is None and invocation.arguments.keywords and _has_unknown_keyword(invocation):
        frame.fail()
        return UNKNOWN
    for name in _registered_names(frame, invocation):
        found = _MODELS.get(name)
        if found is not None:
            return found(frame, invocation)
    return call_by_table(frame, invocation)


def _has_unknown_keyword(invocation: LibraryCall) -> bool:
    """Return whether a call of a library function has a keyword that the function does not take, so that it raises."""
    taken = taken_keywords(invocation.name)
    return taken is not None and not taken.issuperset(invocation.arguments.keywords)


METHOD_PREFIXES: Final[dict[type, tuple[str, ...]]] = {
    Tensor: ("Tensor",),
    OpaqueData: ("OpaqueData", "Tensor"),
    Array: ("ndarray",),
    StringPrefix: ("str",),
    DeviceType: ("str",),
    DeviceString: ("str",),
    TypeName: ("str",),
    Tuple: ("tuple", "list"),
    Size: ("tuple", "list"),
    DeviceValue: ("device",),
    ProgramDefinition: ("class",),
}
"""Prefixes under which models of methods are registered, by the receiver's kind of value; most specific first."""


def _registered_names(frame: Frame, invocation: LibraryCall) -> list[str]:
    """Return the names under which a model of a library call may be registered, most specific first."""
    receiver, name = invocation.receiver, invocation.name
    if receiver is None:
        return [name]
    owners = METHOD_PREFIXES.get(type(receiver))
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
                return _names_by_class(frame, receiver, thing, name)
    return []


def _names_by_class(frame: Frame, receiver: Value, thing: Instance, name: str) -> list[str]:
    """Return the names under which a model of an object's method may be registered, most specific first.

    An example is `torch.nn.Sequential.append`, then `Module.append`.
    """
    if is_module(frame, receiver):
        return [f"{library_class_name(frame, thing)}.{name}", f"Module.{name}"]
    if is_tensor_container(frame, receiver):
        return [f"TensorContainer.{name}"]
    if isinstance(thing.cls, str):
        return [f"{thing.cls}.{name}", f"{thing.cls.rpartition('.')[0]}.*.{name}"]
    return [f"object.{name}"]
