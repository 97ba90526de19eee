"""The record of calls to a file's own functions and classes.

Only the file itself calls private functions, so the arguments of these calls tell on which device the functions run. A
public function runs where the file means it to if every call of the file puts its argument there on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from devlint.domain.device import is_host
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, Placement, is_unknown_placement, placement_cases
from devlint.domain.value import UNKNOWN, OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.private_call_sites import HostData


def record_private_call(frame: Frame, info: FunctionInfo, names: Mapping[str, Value], receiver: Value | None) -> None:
    """Record the placements of the arguments and the receiver in a call of one of a file's own functions."""
    if frame.analysis.private_call_sites.records(info.module):
        _record_host_data(frame, info, names, receiver)
    if not frame.analysis.private_call_sites.covers(info.name, info.module):
        return
    data = {name: value for name, value in names.items() if value is not receiver}
    for name, value in data.items():
        _record_placement(frame, (info, name), _placement_of_tensor(frame, value))
    if receiver is not None and info.owner is not None:
        _record_placement(frame, (info.owner, "self"), _placement_of_receiver(frame, receiver, data.values()))


def _record_host_data(frame: Frame, info: FunctionInfo, names: Mapping[str, Value], receiver: Value | None) -> None:
    """Record which parameters a call passes from the host on purpose; of an unknown value, nothing is recorded."""
    sites = frame.analysis.private_call_sites
    for name, value in names.items():
        if value is not receiver and value != UNKNOWN and sites.may_be_host_data(info, name):
            sites.add_host_data((info.unit, info.name, name), _host_data(frame, value))


def _host_data(frame: Frame, value: Value) -> HostData:
    """Return what a value holds that is on the host because the program or a loader has put it there."""
    if isinstance(value, Tensor):
        return HostData.TENSOR if _is_on_host_on_purpose(frame, value) else HostData.NONE
    held = [*contained_tensors(frame, [value])] if isinstance(value, (Tuple, OpaqueData, Ref)) else []
    placed = bool(held) and all(
        isinstance(one, (Tensor, OpaqueData)) and _is_on_host_on_purpose(frame, one) for one in held
    )
    return HostData.CONTAINER if placed else HostData.NONE


def _is_on_host_on_purpose(frame: Frame, data: Tensor | OpaqueData) -> bool:
    """Return whether data is on the host because the program or a loader has put it there, not by default."""
    placement = frame.resolve(data).placement if isinstance(data, Tensor) else data.placement
    return all(
        is_host(leaf.device) and leaf.basis is not Basis.DEFAULT
        for _, leaf in placement_cases(placement, frame.state.path_condition)
    )


def record_private_instance(frame: Frame, info: ClassInfo) -> None:
    """Record that code of a file makes an object of a private class of the same file."""
    if frame.analysis.private_call_sites.covers(info.name, info.module) and not frame.scope.entry:
        frame.analysis.private_call_sites.add_construction(
            info, frame.function.owner if frame.function is not None else None
        )


def _record_placement(frame: Frame, key: tuple[FunctionInfo | ClassInfo, str], placement: Placement | None) -> None:
    """Record whether a call passes a parameter from the host; `key` is the function or class and the parameter's name.

    Nothing is recorded if the placement is None.
    """
    if placement is not None:
        on_host = all(is_host(leaf.device) for _, leaf in placement_cases(placement, frame.state.path_condition))
        frame.analysis.private_call_sites.add_call(key, on_host=on_host)


def _placement_of_tensor(frame: Frame, value: Value) -> Placement:
    """Return the placement of a tensor; unknown for any other value."""
    return frame.resolve(value).placement if isinstance(value, Tensor) else UNKNOWN_PLACEMENT


def _placement_of_receiver(frame: Frame, receiver: Value, data: Iterable[Value]) -> Placement | None:
    """Return the placement of a module that is called.

    A module of unknown placement is assumed to be on the device of its first input tensor. The result is None if the
    call has no input tensor.
    """
    placement = placement_of_module(frame, receiver)
    if not is_unknown_placement(placement):
        return placement
    return next((_placement_of_tensor(frame, value) for value in data if isinstance(value, Tensor)), None)
