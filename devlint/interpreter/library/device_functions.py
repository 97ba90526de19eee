"""Models of `torch.device`, of queries about accelerators, and of the settings of default and current devices."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import KnownDevice
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, PlacementCase
from devlint.domain.value import NONE, UNKNOWN, Const, DeviceValue, Number, StringPrefix, SymbolicBool, Unknown, Value
from devlint.interpreter.conditions.narrowing import SourceText
from devlint.interpreter.library.default_dtypes import record_file_defaults
from devlint.interpreter.operations.device_arguments import is_absent_or_none, requested_placement
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import RevealedValue
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.device")
def torch_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.device("cuda", 1)`: the device that the arguments request."""
    given = call.arguments.get("device", 0) or call.arguments.get("type", 0)
    if given is None:
        return DeviceValue()
    index = call.arguments.get("index", 1)
    if index is not None and isinstance(given.value, Const) and isinstance(given.value.value, str):
        if isinstance(index.value, Const) and isinstance(index.value.value, int):
            written: Value = Const(f"{given.value.value}:{index.value.value}")
        else:
            written = StringPrefix(f"{given.value.value}:")
        given = Argument(written, given.node)
    if is_absent_or_none(given.value):
        return DeviceValue()
    return DeviceValue(requested_placement(frame, given.value, given.node, None))


AVAILABILITY_CONDITIONS = {
    "torch.cuda.is_available": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.accelerator.is_available": "accelerator",
    "torch.backends.mps.is_built": "mps-built",
}
"""The names of the conditions that stand for the results of torch's availability functions."""


@models_call(*AVAILABILITY_CONDITIONS)
def is_available(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.is_available()` and the like: a symbolic bool, the same one at every call."""
    return SymbolicBool(Literal(Atom(("available", AVAILABILITY_CONDITIONS[call.name]), f"{call.name}()")))


@models_call("torch.cuda.device_count")
def device_count(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.device_count()`: an unknown integer, the same one at every call."""
    return Number("int", ("device_count",), "torch.cuda.device_count()")


@models_call("torch.cuda.current_device")
def current_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.current_device()`: the current CUDA device, of unknown index after `set_device`."""
    torch_state = frame.state.torch_state
    return DeviceValue(
        PlacementCase(
            KnownDevice("cuda") if torch_state.current_device_known else KnownDevice("cuda", -1), Basis.EXPLICIT
        )
    )


@models_call("torch.cuda.set_device")
def set_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.set_device(i)`: from then on, the device `cuda` without an index may be any CUDA device."""
    frame.state.torch_state = replace(frame.state.torch_state, current_device_known=False)
    return NONE


@models_call("torch.set_default_device")
def set_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.set_default_device(d)`: set the device of factories that are given no device."""
    given = call.arguments.get("device", 0)
    placement = requested_placement(frame, given.value, given.node, None) if given is not None else UNKNOWN_PLACEMENT
    frame.state.torch_state = replace(frame.state.torch_state, default_device=placement)
    record_file_defaults(frame)
    return NONE


@models_call("torch.get_default_device")
def get_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.get_default_device()`: the device of factories that are given no device; the CPU unless set."""
    return DeviceValue(frame.state.torch_state.default_device or PlacementCase(KnownDevice("cpu"), Basis.EXPLICIT))


@models_call("torch.accelerator.current_accelerator")
def current_accelerator(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.accelerator.current_accelerator()`: an unknown device, the same one at every call."""
    return Unknown(("accelerator",), "the current accelerator")


@models_call("reveal_placement", "devlint.reveal_placement", "builtins.reveal_placement")
def reveal_placement(frame: Frame, call: LibraryCall) -> Value:
    """Model `reveal_placement(expr)` in analysed code: report what devlint knows of the value, and return the value."""
    if not call.arguments.positional:
        return UNKNOWN
    first = call.arguments.positional[0]
    frame.emit(
        RevealedValue(frame.event_context(call.node), frame.resolve_value(first.value), str(SourceText(first.node)))
    )
    return first.value
