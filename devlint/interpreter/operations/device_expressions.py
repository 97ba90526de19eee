"""The devices that code has at hand where it stands: what a fix can write, and know that it is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from devlint.domain.device import InvalidDevice, parse_device
from devlint.domain.objects import Instance, Registration
from devlint.domain.placement import DeviceExpression, Placement, PlacementCase, is_unknown_placement, join_under
from devlint.domain.value import ConditionalValue, Const, DeviceValue, Tensor, Unknown, Value, named_placement
from devlint.interpreter.objects.module_state import placement_of_module
from devlint.interpreter.state.frame import Frame

MAX_NAMES: Final = 500
"""Names among which a device to write is looked for, each time a tensor is made: code with more of them at one place is
generated."""


def device_expressions_at(frame: Frame) -> tuple[DeviceExpression, ...]:
    """Every device that a name at hand is or has; devices by their own name come first, then what lies on them."""
    if len(frame.state.names) > MAX_NAMES:
        return ()
    names = _names(frame)
    found = [*_devices(names, ""), *_tensors(frame, names, ""), *_modules(frame, names)]
    instance = frame.instance(names["self"]) if "self" in names else None
    if instance is not None and len(instance.attributes) <= MAX_NAMES:
        found += [*_devices(instance.attributes, "self."), *_registered(frame, instance)]
    return tuple(one for one in found if not is_unknown_placement(one.placement))


def _names(frame: Frame) -> Mapping[str, Value]:
    """The names of the function, and from around it those of devices."""
    outer: dict[str, Value] = {}
    around = frame.outer or frame.module.frame
    while around is not None and around is not frame:
        outer = {name: value for name, value in around.state.names.items() if _named_device(value) is not None} | outer
        around = around.outer
    return outer | frame.state.names


def _devices(names: Mapping[str, Value], owner: str) -> Iterator[DeviceExpression]:
    for name, value in names.items():
        placement = _named_device(value)
        if placement is not None:
            yield DeviceExpression(owner + name, placement)
        elif isinstance(value, Unknown) and value.origin is not None and name.endswith("device"):
            yield DeviceExpression(owner + name, named_placement(value.origin, value.text))


def _named_device(value: Value) -> Placement | None:
    """The placement that a value names: a device, the name of one, or a choice of such."""
    match value:
        case DeviceValue(placement=placement):
            return placement
        case Const(value=str(text)):
            try:
                return PlacementCase(parse_device(text))
            except InvalidDevice:
                return None
        case ConditionalValue(test=test, yes=yes, no=no) if test is not None:
            one, other = _named_device(yes), _named_device(no)
            return join_under(test, one, other) if one is not None and other is not None else None
    return None


def _tensors(frame: Frame, names: Mapping[str, Value], owner: str) -> Iterator[DeviceExpression]:
    for name, value in names.items():
        if isinstance(value, Tensor):
            yield DeviceExpression(f"{owner}{name}.device", frame.resolve(value).placement, of_tensor=True)


def _registered(frame: Frame, module: Instance) -> Iterator[DeviceExpression]:
    """What moves with a module: its own tensors, and the weights of its layers."""
    own = {name: value for name, value in module.attributes.items() if name in module.registered}
    yield from _tensors(frame, own, "self.")
    for name, value in own.items():
        layer = frame.instance(value)
        if layer is None or layer.cell is None or module.registered[name] is not Registration.MODULE:
            continue
        if isinstance(layer.cls, str) and _has_weight(layer.cls):
            yield DeviceExpression(f"self.{name}.weight.device", layer.cell.placement, of_tensor=True)


def _modules(frame: Frame, names: Mapping[str, Value]) -> Iterator[DeviceExpression]:
    """The devices of the modules that have a name, told by a parameter."""
    for name, value in names.items():
        module = frame.instance(value) if name != "self" else None
        # What a loss has is a buffer.
        if module is None or (isinstance(module.cls, str) and module.cls.endswith("Loss")):
            continue
        has_weight = isinstance(module.cls, str) and _has_weight(module.cls)
        text = f"{name}.weight.device" if has_weight else f"next({name}.parameters()).device"
        yield DeviceExpression(text, placement_of_module(frame, value), of_tensor=True)


def _has_weight(layer: str) -> bool:
    kind = layer.rpartition(".")[2]
    return kind in ("Linear", "Bilinear", "Embedding", "EmbeddingBag") or kind.startswith("Conv")
