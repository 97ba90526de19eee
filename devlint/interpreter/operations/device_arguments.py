"""From what a program writes for a device to a placement."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import (
    ANY_INDEX,
    HOST,
    UNKNOWN_DEVICE,
    Device,
    InvalidDevice,
    Known,
    is_accelerator,
    parse_device,
)
from devlint.domain.path_conditions import Test, assume, decide
from devlint.domain.placement import UNKNOWN_PLACEMENT, How, Kind, Leaf, Placement, Step, choose, transform
from devlint.domain.value import (
    NONE,
    Const,
    DeviceType,
    DeviceValue,
    Either,
    Number,
    Tensor,
    Text,
    Unknown,
    Value,
    named,
)
from devlint.interpreter.operations.device_expressions import wordings
from devlint.interpreter.state.abstract_state import HOST_BY_DEFAULT
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.events import HardCodedAccelerator, InvalidDeviceUse
from devlint.interpreter.state.frame import Run


def explicit_placement(text: str) -> Device:
    """A device the program has written out, unknown where there is no such device."""
    try:
        return parse_device(text)
    except InvalidDevice:
        return UNKNOWN_DEVICE


def default_placement(run: Run, function: str, node: cst.CSTNode) -> Placement:
    """Where a factory puts its tensor when nobody says: the default device, which is the host unless set."""
    given = run.step(Kind.CREATED, f"created by {function} on the default device", node)

    def place(leaf: Leaf) -> Leaf:
        if leaf != HOST_BY_DEFAULT:
            return replace(leaf, trace=given, how=How.EXPLICIT)
        return host_placement(run, function, node)

    return transform(run.state.ambient.default_device or HOST_BY_DEFAULT, place)


def host_placement(run: Run, function: str, node: cst.CSTNode) -> Leaf:
    """The host, where a factory puts its tensor because nobody has said otherwise."""
    step = run.step(Kind.CREATED, f"created on the host by {function}, which was given no device", node)
    return replace(HOST_BY_DEFAULT, trace=replace(step, wordings=wordings(run)))


def placement_from(run: Run, value: Value, node: cst.BaseExpression, step: Step | None) -> Placement:
    """The placement that `device=value` asks for; `step` is what it does to the tensor. None asks for the default
    device."""
    match value:
        case DeviceValue(placement=placement):
            return transform(placement, lambda leaf: _placed(leaf, step))
        case Const(value=str(text)):
            return Leaf(_device_from_text(run, text, node), How.EXPLICIT, step)
        case Const(value=bool()):
            return UNKNOWN_PLACEMENT
        case Const(value=int(index)):
            if index < 0:
                run.emit(InvalidDeviceUse(run.context_at(node), str(index), "a device index is not negative"))
                return UNKNOWN_PLACEMENT
            return Leaf(Known("cuda", index), How.EXPLICIT, step)
        case Text(prefix=prefix) if ":" in prefix:
            return Leaf(_device_from_prefix(run, prefix, node), How.EXPLICIT, step)
        case Number(kind="int"):
            return Leaf(Known("cuda", ANY_INDEX), How.EXPLICIT, step)
        case Unknown(origin=origin, text=text) | Number(origin=origin, text=text) if origin is not None:
            return named(origin, text, step)
        case DeviceType(placement=placement):
            return transform(placement, lambda leaf: _placed(_without_index(leaf), step))
        case Tensor():
            return transform(run.settle(value).placement, lambda leaf: _placed(leaf, step))
        case Either(test=test, yes=yes, no=no):
            known = decide(run.state.facts, test) if test is not None else None
            if known is not None:
                return placement_from(run, yes if known else no, node, step)
            return choose(test, _under(run, test, yes, node, step), _under(run, test and ~test, no, node, step))
        case Const(value=None):
            return (
                default_placement(run, "a factory", node)
                if step is None or step.kind is Kind.CREATED
                else UNKNOWN_PLACEMENT
            )
    return UNKNOWN_PLACEMENT


def _under(run: Run, test: Test | None, value: Value, node: cst.BaseExpression, step: Step | None) -> Placement:
    """One alternative, read on the path where it is the one."""
    before = run.state.facts
    if test is not None:
        run.state.facts = assume(before, test) or before
    placement = placement_from(run, value, node, step)
    run.state.facts = before
    return placement


def _placed(leaf: Leaf, step: Step | None) -> Leaf:
    """The device of another tensor: known as that one's is. A default passed on is still the first factory's doing."""
    if leaf.how is How.DEFAULT and leaf.trace is not None:
        return leaf
    return replace(leaf, trace=step)


def _without_index(leaf: Leaf) -> Leaf:
    return replace(leaf, device=Known(leaf.device.type)) if isinstance(leaf.device, Known) else leaf


def _device_from_text(run: Run, text: str, node: cst.BaseExpression) -> Device:
    try:
        device = parse_device(text)
    except InvalidDevice as error:
        run.emit(InvalidDeviceUse(run.context_at(node), text, str(error)))
        return UNKNOWN_DEVICE
    return current(run, device)


def _device_from_prefix(run: Run, prefix: str, node: cst.BaseExpression) -> Device:
    """A device string of which only the beginning is known: its type, with some index."""
    type_, _, rest = prefix.partition(":")
    if ":" in rest:
        run.emit(
            InvalidDeviceUse(run.context_at(node), prefix + "...", f"{rest.partition(':')[0]!r} is no device index")
        )
        return UNKNOWN_DEVICE
    device = explicit_placement(type_)
    return Known(device.type, ANY_INDEX) if isinstance(device, Known) and device.type != HOST else UNKNOWN_DEVICE


def current(run: Run, device: Known) -> Known:
    """`cuda` without an index, once the program has chosen another current device."""
    if device.index is None and device.type != HOST and not run.state.ambient.current_device_known:
        return Known(device.type, ANY_INDEX)
    return device


DEVICE_KEYWORDS: Final = ("device", "device_type", "map_location")
DEVICE_FIRST: Final = frozenset(
    "torch.device torch.autocast torch.amp.autocast torch.amp.GradScaler torch.set_default_device"
    " torch.Generator".split()
)
"""Calls whose first argument is a device."""


def note_devices(run: Run, name: str, arguments: Arguments) -> None:
    """Tell of the accelerators that are written out among the arguments of one of torch's functions."""
    for keyword in DEVICE_KEYWORDS:
        given = arguments.keywords.get(keyword)
        if given is not None:
            note_hard_coded(run, given.value, given.node, f"{keyword}={_written(given.node)}")
    if name in DEVICE_FIRST and arguments.positional:
        note_hard_coded(run, arguments.positional[0].value, arguments.positional[0].node, _written(arguments.node))


def note_hard_coded(run: Run, value: Value | None, node: cst.CSTNode, written: str) -> None:
    """Tell when an accelerator is written out where the code could not run without one."""
    if isinstance(value, Const) and isinstance(value.value, str) and is_accelerator(explicit_placement(value.value)):
        run.emit(HardCodedAccelerator(run.context_at(node), written, is_guarded(run), is_choosable(run)))


def _written(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def is_guarded(run: Run) -> bool:
    """Whether the path has asked for an accelerator, or for something else that decides it."""
    return any(word in str(test) for test in run.state.facts for word in ("available", "cuda", "gpu", "device"))


def is_choosable(run: Run) -> bool:
    """Whether the caller can choose the device: by a parameter of the function, or of the class's `__init__`."""
    function = run.function
    if function is None:
        return False
    names = [one.name for one in function.parameters]
    if function.owner is not None and "__init__" in function.owner.methods:
        names += [one.name for one in function.owner.methods["__init__"].parameters]
    return any(part in name.lower() for name in names for part in ("device", "cuda", "gpu"))


def is_none(value: Value | None) -> bool:
    """Whether an argument is absent or None."""
    return value is None or value == NONE
