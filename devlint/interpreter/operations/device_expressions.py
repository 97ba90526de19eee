"""Expressions for devices that code can use at a given point (`device`, `x.device`), for fixes to insert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from devlint.domain.device import InvalidDevice, parse_device
from devlint.domain.objects import Instance, Registration
from devlint.domain.placement import DeviceExpression, Placement, PlacementCase, is_unknown_placement, without_index
from devlint.domain.placement_lattice import join_under
from devlint.domain.value import (
    ConditionalValue,
    Const,
    DeviceType,
    DeviceValue,
    Tensor,
    Unknown,
    Value,
    named_placement,
)
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.state.frame import Frame

MAX_NAMES: Final = 500
"""The largest number of names searched for a device expression each time a tensor is made.

Code with more names in one place is generated.
"""


_DEVICE_KINDS: Final = frozenset({DeviceValue, DeviceType, Const, ConditionalValue})
"""The kinds of values that can name a device; most names of a module are of no such kind."""


def device_expressions_at(frame: Frame) -> tuple[DeviceExpression, ...]:
    """Return the expressions for devices that a frame's variables offer: devices first, then tensors and modules.

    Expressions whose device is not known are left out. A frame with more than `MAX_NAMES` names offers none.
    """
    if len(frame.state.names) > MAX_NAMES:
        return ()
    names = _visible_names(frame)
    found = [*_device_names(names, ""), *_tensor_devices(frame, names, ""), *_module_devices(frame, names)]
    instance = frame.instance(names["self"]) if "self" in names else None
    if instance is not None and len(instance.attributes) <= MAX_NAMES:
        found += [*_device_names(instance.attributes, "self."), *_registered_devices(frame, instance)]
    return tuple(one for one in found if not is_unknown_placement(one.placement))


def _visible_names(frame: Frame) -> Mapping[str, Value]:
    """Return the values of a frame's local names, and of the names in enclosing scopes that hold a device."""
    outer: dict[str, Value] = {}
    around = frame.outer or frame.analysis.module_frames.get(frame.module)
    while around is not None and around is not frame:
        outer = {name: value for name, value in around.state.names.items() if _named_device(value) is not None} | outer
        around = around.outer
    return outer | frame.state.names


def _device_names(names: Mapping[str, Value], owner: str) -> Iterator[DeviceExpression]:
    """Yield device expressions: names that hold a device, and names of unknown values that end in `device`.

    `owner` is the prefix of the names, such as `self.`.
    """
    for name, value in names.items():
        placement = _named_device(value)
        if placement is not None:
            yield DeviceExpression(owner + name, placement)
        elif isinstance(value, Unknown) and value.origin is not None and name.endswith("device"):
            yield DeviceExpression(owner + name, named_placement(value.origin, value.text))


def _named_device(value: Value) -> Placement | None:
    """Return the placement that a device, a device string or a conditional of these names; None for other values."""
    if value.__class__ not in _DEVICE_KINDS:
        return None
    match value:
        case DeviceValue(placement=placement):
            return placement
        case DeviceType(placement=placement, whole=whole):
            return placement if whole else without_index(placement)
        case Const(value=str(text)):
            try:
                return PlacementCase(parse_device(text))
            except InvalidDevice:
                return None
        case ConditionalValue(test=test, yes=yes, no=no) if test is not None:
            one, other = _named_device(yes), _named_device(no)
            return join_under(test, one, other) if one is not None and other is not None else None
    return None


def _tensor_devices(frame: Frame, names: Mapping[str, Value], owner: str) -> Iterator[DeviceExpression]:
    """Yield `NAME.device` for each name that holds a tensor, or an unknown value that may be one.

    The device of such a value is that of a tensor only where the program has used the value as one.
    """
    for name, value in names.items():
        if isinstance(value, Tensor):
            yield DeviceExpression(f"{owner}{name}.device", frame.resolve(value).placement, of_tensor=True)
        elif isinstance(value, Unknown) and value.origin is not None and not name.endswith("device"):
            placement = named_placement(value.origin, value.text)
            yield DeviceExpression(f"{owner}{name}.device", placement, of_tensor=True)


def _registered_devices(frame: Frame, module: Instance) -> Iterator[DeviceExpression]:
    """Yield expressions for devices of a module's registered tensors, such as `self.scale.device`.

    They are read from the module's own parameters and buffers and from the weights of its layers, because these tensors
    move with the module.
    """
    own = {name: value for name, value in module.attributes.items() if name in module.registered}
    yield from _tensor_devices(frame, own, "self.")
    for name, value in own.items():
        layer = frame.instance(value)
        if layer is None or layer.cell is None or module.registered[name] is not Registration.MODULE:
            continue
        if isinstance(layer.cls, str) and _has_weight_parameter(layer.cls):
            yield DeviceExpression(f"self.{name}.weight.device", layer.cell.placement, of_tensor=True)


def _module_devices(frame: Frame, names: Mapping[str, Value]) -> Iterator[DeviceExpression]:
    """Yield expressions for the devices of modules held by variables, such as `next(model.parameters()).device`."""
    for name, value in names.items():
        module = frame.instance(value) if name != "self" else None
        # The tensors of a loss module are buffers, not parameters.
        if module is None or (isinstance(module.cls, str) and module.cls.endswith("Loss")):
            continue
        has_weight = isinstance(module.cls, str) and _has_weight_parameter(module.cls)
        text = f"{name}.weight.device" if has_weight else f"next({name}.parameters()).device"
        yield DeviceExpression(text, placement_of_module(frame, value), of_tensor=True)


def _has_weight_parameter(layer: str) -> bool:
    """Return whether a layer class has a parameter called `weight`."""
    kind = layer.rpartition(".")[2]
    return kind in ("Linear", "Bilinear", "Embedding", "EmbeddingBag") or kind.startswith("Conv")
