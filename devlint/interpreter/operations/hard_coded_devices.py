"""Accelerators that a program writes out, as string constants or by the names of methods, and what it has at hand."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import KnownDevice, device_from_string, is_accelerator
from devlint.domain.value import Const, Value
from devlint.interpreter.operations.device_arguments import (
    has_device_parameter,
    is_behind_device_check,
    report_ignored_device,
)
from devlint.interpreter.operations.devices_at_hand import (
    device_of_called_module,
    device_of_neighbour,
    named_choice,
)
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import DeviceAtHand, HardCodedAccelerator
from devlint.interpreter.state.frame import Frame

DEVICE_KEYWORDS: Final = ("device", "device_type", "map_location")
"""Keyword arguments of torch's functions that take a device."""
DEVICE_FIRST_CALLS: Final = frozenset(
    "torch.device torch.autocast torch.amp.autocast torch.amp.GradScaler torch.set_default_device"
    " torch.Generator".split()
)
"""Calls whose first argument is a device."""
_TAKE_TYPES: Final = ("torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler")
"""Calls that take the type of a device, a string."""


def report_hard_coded_arguments(frame: Frame, name: str, arguments: Arguments) -> None:
    """Report accelerators that are written as string constants among the arguments of a torch function."""
    enabled = arguments.keywords.get("enabled")
    if enabled is not None and not isinstance(enabled.value, Const):
        return  # mixed precision that may be turned off where the device is another one
    for keyword in DEVICE_KEYWORDS:
        given = arguments.keywords.get(keyword)
        if given is not None:
            neighbour = device_of_neighbour(frame, arguments.node) if keyword == "device" else None
            of_type = keyword == "device_type" or name in _TAKE_TYPES
            _report(frame, given.value, given.node, f"{keyword}={{}}", given.node, neighbour, of_type=of_type)
    if name in DEVICE_FIRST_CALLS and arguments.positional:
        first = arguments.positional[0]
        _report(frame, first.value, first.node, "{}", arguments.node, of_type=name in _TAKE_TYPES)


def report_hard_coded_transfer(
    frame: Frame, device: str, call: cst.CSTNode, form: str, quoted: cst.CSTNode | None = None
) -> None:
    """Report a transfer by a method that is named after an accelerator, such as `.cuda(0)`.

    `device` is the accelerator, with its index where that is written out. Messages show the transfer as `form`, with
    the source code of `quoted` in place of `{}`.
    """
    _report(frame, Const(device), call, form, quoted, device_of_called_module(frame, call))


def report_hard_coded_target(frame: Frame, device: Argument, call: cst.CSTNode) -> None:
    """Report the device of a call of `.to()` where it is the string constant of an accelerator."""
    _report(frame, device.value, device.node, ".to({})", device.node, device_of_called_module(frame, call))


def report_hard_coded_type(frame: Frame, type_: str, call: cst.CSTNode, written: str) -> None:
    """Report a call of an old tensor type that names an accelerator in its text, such as `torch.cuda.FloatTensor`."""
    _report(frame, Const(type_), call, written)


def _report(
    frame: Frame,
    value: Value,
    node: cst.CSTNode,
    form: str,
    quoted: cst.CSTNode | None = None,
    neighbour: DeviceAtHand | None = None,
    *,
    of_type: bool = False,
) -> None:
    """Report a device argument that is the string constant of an accelerator; `of_type` if it must be a string."""
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return
    device = device_from_string(value.value)
    if not isinstance(device, KnownDevice) or not is_accelerator(device):
        return
    shown = frame.place(quoted) if quoted is not None else None
    guarded, choosable = is_behind_device_check(frame), has_device_parameter(frame)
    chosen = named_choice(frame) if not (guarded or choosable) else None
    if chosen is not None and of_type and not chosen.is_text:
        chosen = DeviceAtHand(f"{chosen.text}.type", is_text=True)
    owner = frame.function.owner.name if frame.function is not None and frame.function.owner is not None else ""
    type_, index = value.value.partition(":")[0], device.index if isinstance(device.index, int) else 0
    report_ignored_device(frame, node)
    frame.emit(
        HardCodedAccelerator(
            frame.event_context(node), form, shown, guarded, choosable, type_, index, chosen, neighbour, owner
        )
    )
