"""torch.device, what is asked about accelerators, and the settings that decide where things go by default."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import KnownDevice
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, PlacementCase
from devlint.domain.value import NONE, UNKNOWN, Const, DeviceValue, Number, StringPrefix, SymbolicBool, Unknown, Value
from devlint.interpreter.conditions.narrowing import SourceText
from devlint.interpreter.library.default_dtypes import keep_defaults
from devlint.interpreter.operations.device_arguments import is_absent_or_none, requested_placement
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import RevealedValue
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.device")
def device(frame: Frame, call: LibraryCall) -> Value:
    """`torch.device("cuda", 1)`."""
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


AVAILABLE = {
    "torch.cuda.is_available": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.accelerator.is_available": "accelerator",
    "torch.backends.mps.is_built": "mps-built",
}


@models_call(*AVAILABLE)
def available(frame: Frame, call: LibraryCall) -> Value:
    """Whether there is an accelerator: one and the same answer each time it is asked."""
    return SymbolicBool(Literal(Atom(("available", AVAILABLE[call.name]), f"{call.name}()")))


@models_call("torch.cuda.device_count")
def device_count(frame: Frame, call: LibraryCall) -> Value:
    """How many accelerators there are."""
    return Number("int", ("device_count",), "torch.cuda.device_count()")


@models_call("torch.cuda.current_device")
def current_device(frame: Frame, call: LibraryCall) -> Value:
    """The index of the current device."""
    torch_state = frame.state.torch_state
    return DeviceValue(
        PlacementCase(
            KnownDevice("cuda") if torch_state.current_device_known else KnownDevice("cuda", -1), Basis.EXPLICIT
        )
    )


@models_call("torch.cuda.set_device")
def set_device(frame: Frame, call: LibraryCall) -> Value:
    """Afterwards `cuda` without an index may be any of them."""
    frame.state.torch_state = replace(frame.state.torch_state, current_device_known=False)
    return NONE


@models_call("torch.set_default_device")
def set_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Afterwards factories without a device put their tensors there."""
    given = call.arguments.get("device", 0)
    placement = requested_placement(frame, given.value, given.node, None) if given is not None else UNKNOWN_PLACEMENT
    frame.state.torch_state = replace(frame.state.torch_state, default_device=placement)
    keep_defaults(frame)
    return NONE


@models_call("torch.get_default_device")
def get_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Where factories put their tensors."""
    return DeviceValue(frame.state.torch_state.default_device or PlacementCase(KnownDevice("cpu"), Basis.EXPLICIT))


@models_call("torch.accelerator.current_accelerator")
def current_accelerator(frame: Frame, call: LibraryCall) -> Value:
    """The accelerator of this machine: always the same one."""
    return Unknown(("accelerator",), "the current accelerator")


@models_call("reveal_placement", "devlint.reveal_placement", "builtins.reveal_placement")
def reveal(frame: Frame, call: LibraryCall) -> Value:
    """`reveal_placement(expr)` in analysed code: devlint says what it knows, and hands the value on."""
    if not call.arguments.positional:
        return UNKNOWN
    first = call.arguments.positional[0]
    frame.emit(
        RevealedValue(frame.event_context(call.node), frame.resolve_value(first.value), str(SourceText(first.node)))
    )
    return first.value
