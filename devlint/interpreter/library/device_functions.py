"""torch.device, what is asked about accelerators, and the settings that decide where things go by default."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import Known
from devlint.domain.path_conditions import Atom, Test
from devlint.domain.placement import UNKNOWN_PLACEMENT, How, Leaf
from devlint.domain.value import NONE, UNKNOWN, Const, DeviceValue, Number, Text, Truth, Unknown, Value
from devlint.interpreter.conditions.narrowing import Source
from devlint.interpreter.library.default_dtypes import keep_defaults
from devlint.interpreter.operations.device_arguments import is_none, placement_from
from devlint.interpreter.state.arguments import Argument, Invocation
from devlint.interpreter.state.events import Revealed
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model("torch.device")
def device(run: Run, call: Invocation) -> Value:
    """`torch.device("cuda", 1)`."""
    given = call.arguments.get("device", 0) or call.arguments.get("type", 0)
    if given is None:
        return DeviceValue()
    index = call.arguments.get("index", 1)
    if index is not None and isinstance(given.value, Const) and isinstance(given.value.value, str):
        if isinstance(index.value, Const) and isinstance(index.value.value, int):
            written: Value = Const(f"{given.value.value}:{index.value.value}")
        else:
            written = Text(f"{given.value.value}:")
        given = Argument(written, given.node)
    if is_none(given.value):
        return DeviceValue()
    return DeviceValue(placement_from(run, given.value, given.node, None))


AVAILABLE = {
    "torch.cuda.is_available": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.accelerator.is_available": "accelerator",
    "torch.backends.mps.is_built": "mps-built",
}


@model(*AVAILABLE)
def available(run: Run, call: Invocation) -> Value:
    """Whether there is an accelerator: one and the same answer each time it is asked."""
    return Truth(Test(Atom(("available", AVAILABLE[call.name]), f"{call.name}()")))


@model("torch.cuda.device_count")
def device_count(run: Run, call: Invocation) -> Value:
    """How many accelerators there are."""
    return Number("int", ("device_count",), "torch.cuda.device_count()")


@model("torch.cuda.current_device")
def current_device(run: Run, call: Invocation) -> Value:
    """The index of the current device."""
    ambient = run.state.ambient
    return DeviceValue(Leaf(Known("cuda") if ambient.current_device_known else Known("cuda", -1), How.EXPLICIT))


@model("torch.cuda.set_device")
def set_device(run: Run, call: Invocation) -> Value:
    """Afterwards `cuda` without an index may be any of them."""
    run.state.ambient = replace(run.state.ambient, current_device_known=False)
    return NONE


@model("torch.set_default_device")
def set_default_device(run: Run, call: Invocation) -> Value:
    """Afterwards factories without a device put their tensors there."""
    given = call.arguments.get("device", 0)
    placement = placement_from(run, given.value, given.node, None) if given is not None else UNKNOWN_PLACEMENT
    run.state.ambient = replace(run.state.ambient, default_device=placement)
    keep_defaults(run)
    return NONE


@model("torch.get_default_device")
def get_default_device(run: Run, call: Invocation) -> Value:
    """Where factories put their tensors."""
    return DeviceValue(run.state.ambient.default_device or Leaf(Known("cpu"), How.EXPLICIT))


@model("torch.accelerator.current_accelerator")
def current_accelerator(run: Run, call: Invocation) -> Value:
    """The accelerator of this machine: always the same one."""
    return Unknown(("accelerator",), "the current accelerator")


@model("reveal_placement", "devlint.reveal_placement", "builtins.reveal_placement")
def reveal(run: Run, call: Invocation) -> Value:
    """`reveal_placement(expr)` in analysed code: devlint says what it knows, and hands the value on."""
    if not call.arguments.positional:
        return UNKNOWN
    first = call.arguments.positional[0]
    run.emit(Revealed(run.context_at(call.node), run.settle_value(first.value), str(Source(first.node))))
    return first.value
