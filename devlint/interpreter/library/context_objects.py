"""Models of context managers that change how torch runs operations, and of objects of which only the class matters."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.objects import Instance
from devlint.domain.placement import PlacementCase
from devlint.domain.value import NONE, UNKNOWN, Const, DeviceValue, Value
from devlint.interpreter.operations.autocast_regions import AUTOCAST_DTYPE, AUTOCAST_ENABLED, AUTOCAST_TYPE
from devlint.interpreter.operations.device_arguments import CURRENT_DEVICE, chosen_device
from devlint.interpreter.operations.hard_coded_devices import DEVICE_FIRST_CALLS
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

_GRAD_MODES: Final = ("no_grad", "inference_mode", "enable_grad", "set_grad_enabled")
"""The context managers that turn the recording of gradients on or off."""
_GRAD_MODE_MODULES: Final = ("torch", "torch.autograd", "torch.autograd.grad_mode")
"""The modules from which programs import them."""


@models_call(
    *(f"{module}.{name}" for module in _GRAD_MODE_MODULES for name in _GRAD_MODES),
    "torch.cuda.Event",
    "torch.Event",
    "torch.cuda.Stream",
    "torch.cuda.stream",
    "torch.cuda.CUDAGraph",
    "contextlib.nullcontext",
)
def plain_object(frame: Frame, call: LibraryCall) -> Value:
    """Model constructors such as `torch.no_grad()` or `torch.cuda.Event()`: an object without attributes.

    `torch.set_grad_enabled(mode)` becomes `torch.enable_grad` or `torch.no_grad`; as a statement of its own, the call
    also sets whether the interpreter's abstract state records gradients from there on.
    """
    last = call.name.rpartition(".")[2]
    name = f"torch.{last}" if last in _GRAD_MODES else call.name
    if last == "set_grad_enabled":
        known = call.arguments.constant("mode", 0) is True
        if call.node is frame.discarded_expression or call.node is frame.displayed_expression:
            frame.state.torch_state = replace(frame.state.torch_state, grad=known)
        name = "torch.enable_grad" if known else "torch.no_grad"
    return frame.allocate(call.node, Instance(name, {}))


@models_call("torch.cuda.device", "torch.xpu.device", "torch.accelerator.device_index")
def current_device_context(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.device(i)`: a context manager under which another device is the current one."""
    chosen = chosen_device(frame, call.arguments.get("device", 0), call.name.split(".")[1])
    settings: dict[str, Value] = {}
    if chosen.index is not None:
        settings[CURRENT_DEVICE] = DeviceValue(PlacementCase(chosen))
    return frame.allocate(call.node, Instance(call.name, settings))


@models_call("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def autocast(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.autocast(...)` under any of its names: a context manager that remembers its arguments."""
    named = call.name in DEVICE_FIRST_CALLS
    missing: Value = NONE if call.arguments.complete else UNKNOWN
    type_ = call.arguments.value("device_type", 0) if named else Const(call.name.split(".")[1])
    dtype = call.arguments.value("dtype", 1)
    enabled = call.arguments.value("enabled", 2 if named else 0)
    if enabled is None:
        enabled = Const(True) if call.arguments.complete else UNKNOWN
    settings = {AUTOCAST_TYPE: type_ or missing, AUTOCAST_DTYPE: dtype or missing, AUTOCAST_ENABLED: enabled}
    return frame.allocate(call.node, Instance("torch.autocast", settings))
