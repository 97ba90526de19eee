"""Devices that code has at hand: names and expressions that a program can write in place of a device by name."""

from __future__ import annotations

import libcst as cst

from devlint.domain.device import DeviceSymbol, KnownDevice, device_from_string, is_accelerator, is_host
from devlint.domain.objects import Instance
from devlint.domain.placement import placement_cases
from devlint.domain.value import ConditionalValue, Const, DeviceType, DeviceValue, Ref, Tensor, Value
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.state.events import DeviceAtHand
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend, dotted_name


def named_choice(frame: Frame) -> DeviceAtHand | None:
    """Return a name in scope that holds the device which the program chooses: an accelerator, or else the host."""
    seen: set[str] = set()
    inner: Frame | None = frame
    while inner is not None:
        for name, value in inner.state.names.items():
            if name not in seen and (found := _as_choice(name, value)) is not None:
                return found
        seen.update(inner.state.names)
        inner = inner.outer
    if frame.function is None:
        return None
    for statement in frame.module.index.statements:
        for name in statement.binds:
            if "device" not in name.lower() or name in seen:
                continue
            found = _as_choice(name, frame.analysis.global_name(frame.module, name))
            if found is not None:
                return found
    return None


def device_of_neighbour(frame: Frame, call: cst.CSTNode) -> DeviceAtHand | None:
    """Return the device of the tensor whose sizes a factory call reads, `x.device` of `torch.rand(x.shape)`.

    None where the call reads no sizes, and of a tensor that may be on the host.
    """
    for node in descend(call):
        match node:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape" | "size" | "numel")):
                value = frame.lookup(name)
                tensor = frame.resolve_value(value) if value is not None else None
                if isinstance(tensor, Tensor) and not any(
                    is_host(case.device) or not isinstance(case.device, DeviceSymbol | KnownDevice)
                    for _, case in placement_cases(tensor.placement, frame.state.path_condition)
                ):
                    return DeviceAtHand(f"{name}.device")
    return None


def device_of_called_module(frame: Frame, call: cst.CSTNode) -> DeviceAtHand | None:
    """Return the device of the module that a transfer serves, `next(net.parameters()).device` of `net(x.cuda())`.

    The module's device must be the choice of others; None for a transfer that is no argument of a module.
    """
    match path_to(frame.unit.tree, call)[-3:-1]:
        case [cst.Call(func=called), cst.Arg()] if (name := dotted_name(called)) is not None:
            thing = frame.object_of(_value_of(frame, name, called))
            if isinstance(thing, Instance) and thing.cell is not None:
                cases = [case for _, case in placement_cases(thing.cell.placement, frame.state.path_condition)]
                if cases and all(isinstance(one.device, DeviceSymbol) for one in cases):
                    return DeviceAtHand(f"next({name}.parameters()).device")
    return None


def _value_of(frame: Frame, name: str, node: cst.BaseExpression) -> Value | None:
    """Return the value of a dotted name: of a variable, or of what `self` holds."""
    root, *attributes = name.split(".")
    value = frame.lookup(root)
    for one in attributes:
        value = frame.get_attribute(value, one, node) if isinstance(value, Ref) else None
    return value


def _as_choice(name: str, value: Value | None) -> DeviceAtHand | None:
    """Return a name that holds a device which the program chooses; None for any other name."""
    match value:
        case DeviceValue(placement=placement) | DeviceType(placement=placement):
            devices = [case.device for _, case in placement_cases(placement)]
            if any(map(is_host, devices)) and any(map(is_accelerator, devices)):
                return DeviceAtHand(name, is_text=isinstance(value, DeviceType))
        case ConditionalValue(yes=Const(value=str(yes)), no=Const(value=str(no))):
            devices = [device_from_string(yes), device_from_string(no)]
            if any(map(is_host, devices)) and any(map(is_accelerator, devices)):
                return DeviceAtHand(name, is_text=True)
    return None
