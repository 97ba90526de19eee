"""The record of what a call passes for each parameter: from the host, from a parameter of the caller, or anything."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from devlint.domain.device import DeviceSymbol, is_host
from devlint.domain.placement import Basis, Placement, placement_cases
from devlint.domain.value import (
    Array,
    Const,
    DtypeValue,
    Number,
    OpaqueData,
    ProgramDefinition,
    Size,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Unknown,
    Value,
)
from devlint.interpreter.objects.library_objects import DATA_LOADER
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.passed_arguments import FROM_HOST, Sources, either, root_parameter

_NO_TENSORS = (Array, Const, DtypeValue, Number, ProgramDefinition, Size, StringPrefix, SymbolicBool)
"""The kinds of values that are on no device."""


def record_passed_arguments(
    frame: Frame, info: FunctionInfo, names: Mapping[str, Value], receiver: Value | None, node: cst.CSTNode
) -> None:
    """Record what a call passes to a function that only code which names it calls."""
    function = info.name.rpartition(".")[2]
    if function.startswith("__") or function == "forward" or info.closure is not None or info.decorators:
        return
    passed = frame.analysis.passed_arguments.of_call(info, frame.module.filename, node)
    for name, value in names.items():
        if value is receiver:
            continue
        if name not in passed:
            passed[name] = _sources(frame, value)
        elif passed[name] is not None:
            passed[name] = either(passed[name], _sources(frame, value))


def _sources(frame: Frame, value: Value) -> Sources:
    """Return whether a value is on the host, a loader, or no tensor, or a part of a parameter of the caller."""
    if isinstance(value, _NO_TENSORS):
        return FROM_HOST
    if isinstance(value, Unknown):
        known = root_parameter(value.origin)
        return None if known is None else frozenset({known})
    if isinstance(value, Tensor):
        return _sources_of_placement(frame, frame.resolve(value).placement)
    loader = frame.instance(value)
    if loader is not None and loader.cls == DATA_LOADER:
        # Its batches are on the host, unless the program has wrapped it in one that moves them.
        return FROM_HOST if loader.cell is None else None
    return _sources_of_placement(frame, value.placement) if isinstance(value, OpaqueData) else None


def _sources_of_placement(frame: Frame, placement: Placement) -> Sources:
    """Return what a tensor with a placement tells of the call that passes it."""
    found = FROM_HOST
    for _, leaf in placement_cases(placement, frame.state.path_condition):
        if is_host(leaf.device):
            continue
        device = leaf.device
        known = (
            root_parameter(device.origin) if isinstance(device, DeviceSymbol) and leaf.basis is Basis.CALLER else None
        )
        if known is None:
            return None
        found |= {known}
    return found
