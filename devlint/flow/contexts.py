"""What a `with` statement's context changes for the operations inside."""

from __future__ import annotations

import libcst as cst

from devlint.flow.devices import placement_from
from devlint.flow.run import Run
from devlint.values.heap import Instance, Sequence
from devlint.values.value import UNKNOWN, DeviceValue, Ref, Value

GRAD_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


def enter(run: Run, value: Value, node: cst.BaseExpression) -> tuple[Value, dict[str, object]]:
    """The value `as` binds, and the changes to what surrounds the operations."""
    if isinstance(value, DeviceValue):
        return value, {"default_device": placement_from(run, value, node, None)}
    thing = run.get(value.address) if isinstance(value, Ref) else None
    if isinstance(thing, Sequence) and thing.kind == "generator":
        return thing.any, {}
    if isinstance(thing, Instance) and isinstance(thing.cls, str):
        if thing.cls in GRAD_OFF:
            return value, {"grad": False}
        if thing.cls in ("torch.enable_grad", "torch.autograd.enable_grad", "torch.set_grad_enabled"):
            return value, {"grad": True}
        if thing.cls == "torch.autocast":
            return value, {"autocast": True}
        if thing.cls == "torch.cuda.device":
            return value, {"current_device_known": False}
    return (value if thing is not None else UNKNOWN), {}
