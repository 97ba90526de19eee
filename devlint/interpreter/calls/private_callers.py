"""The private functions and classes of a file: only the file itself calls them, so what its calls hand over tells
where they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from devlint.domain.device import is_host
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement, is_unknown_placement, placement_cases
from devlint.domain.value import Tensor, Value
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.frame import Frame


def record_private_call(frame: Frame, info: FunctionInfo, names: Mapping[str, Value], receiver: Value | None) -> None:
    """A call of the program's own, with its arguments by the names of the parameters."""
    if not frame.analysis.private_call_sites.concerns(info.name, info.module):
        return
    data = {name: value for name, value in names.items() if value is not receiver}
    for name, value in data.items():
        _add(frame, (info, name), _placement(frame, value))
    if receiver is not None and info.owner is not None:
        _add(frame, (info.owner, "self"), _placement_of_receiver(frame, receiver, data.values()))


def record_private_instance(frame: Frame, info: ClassInfo) -> None:
    """An object of the program's own making."""
    if frame.analysis.private_call_sites.concerns(info.name, info.module) and not frame.scope.entry:
        frame.analysis.private_call_sites.add_maker(info, frame.function.owner if frame.function is not None else None)


def _add(frame: Frame, key: tuple[FunctionInfo | ClassInfo, str], placement: Placement | None) -> None:
    if placement is not None:
        on_host = all(is_host(leaf.device) for _, leaf in placement_cases(placement, frame.state.path_condition))
        frame.analysis.private_call_sites.add_call(key, on_host=on_host)


def _placement(frame: Frame, value: Value) -> Placement:
    return frame.resolve(value).placement if isinstance(value, Tensor) else UNKNOWN_PLACEMENT


def _placement_of_receiver(frame: Frame, receiver: Value, data: Iterable[Value]) -> Placement | None:
    """Where a module is; one of which nothing is known is where its first input is, None if it has none."""
    placement = placement_of_module(frame, receiver)
    if not is_unknown_placement(placement):
        return placement
    return next((_placement(frame, value) for value in data if isinstance(value, Tensor)), None)
