"""Models of `torch.device`, of queries about accelerators, and of the settings of default and current devices."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain import availability
from devlint.domain.device import ACCELERATOR, KnownDevice
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, PlacementCase, StepKind
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    ConditionalValue,
    Const,
    DeviceValue,
    Number,
    StringPrefix,
    SymbolicBool,
    Value,
)
from devlint.interpreter.conditions.condition_texts import source_line
from devlint.interpreter.language.expressions import concatenated
from devlint.interpreter.library.default_dtypes import record_file_defaults
from devlint.interpreter.objects.revealed_contents import revealed_contents
from devlint.interpreter.operations.accelerator_names import report_accelerator_that_may_be_none
from devlint.interpreter.operations.device_arguments import (
    chosen_device,
    is_absent_or_none,
    resolve_device_index,
    written_placement,
)
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
    report_accelerator_that_may_be_none(frame, given.value, "`torch.device(None)` is refused", call.node)
    index = call.arguments.get("index", 1)
    if index is not None and not is_absent_or_none(index.value):
        given = Argument(concatenated(concatenated(given.value, Const(":")), _index_text(index.value)), given.node)
    if is_absent_or_none(given.value):
        return DeviceValue()
    return DeviceValue(written_placement(frame, given.value, given.node, None))


def _index_text(index: Value) -> Value:
    """Return the text of a device's index: a constant if the index is one, otherwise unknown."""
    return index if isinstance(index, Const) and isinstance(index.value, int) else StringPrefix()


AVAILABILITY_CONDITIONS = {
    "torch.cuda.is_available": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.accelerator.is_available": ACCELERATOR,
    "torch.backends.mps.is_built": "mps-built",
}
"""The names of the conditions that stand for the results of torch's availability functions."""


@models_call(*AVAILABILITY_CONDITIONS)
def is_available(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.is_available()` and the like: a symbolic bool, the same one at every call."""
    return SymbolicBool(availability.is_available(AVAILABILITY_CONDITIONS[call.name], f"{call.name}()"))


@models_call("torch.cuda.device_count", "torch.xpu.device_count", "torch.accelerator.device_count")
def device_count(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.device_count()` and the like: an unknown integer, the same one at every call."""
    return Number("int", (availability.DEVICE_COUNT, _device_type_of(call)), f"{call.name}()")


def _device_type_of(call: LibraryCall) -> str:
    """Return the device type that a function of `torch.cuda`, `torch.accelerator` or the like is about."""
    return call.name.split(".")[1]


@models_call(
    "torch.cuda.current_device", "torch.accelerator.current_device_index", "torch.accelerator.current_device_idx"
)
def current_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.current_device()` and the like: the current device, of the index that `set_device` has set.

    The function returns the index of the device, which a program may pass where a device is wanted.
    """
    device = resolve_device_index(frame, KnownDevice(_device_type_of(call)))
    return DeviceValue(PlacementCase(device, Basis.EXPLICIT))


@models_call("torch.cuda.set_device", "torch.accelerator.set_device_index", "torch.accelerator.set_device_idx")
def set_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.set_device(i)`: from then on, the device `cuda` without an index is that device."""
    chosen = chosen_device(frame, call.arguments.get("device", 0), _device_type_of(call))
    if chosen.index is not None:
        frame.state.torch_state = replace(frame.state.torch_state, current_device=chosen)
    return NONE


@models_call("torch.set_default_device")
def set_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.set_default_device(d)`: set the device of factories that are given no device."""
    given = call.arguments.get("device", 0)
    placement = written_placement(frame, given.value, given.node, None) if given is not None else UNKNOWN_PLACEMENT
    frame.state.torch_state = replace(frame.state.torch_state, default_device=placement)
    record_file_defaults(frame)
    return NONE


@models_call("torch.get_default_device")
def get_default_device(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.get_default_device()`: the device of factories that are given no device; the CPU unless set."""
    return DeviceValue(frame.state.torch_state.default_device or PlacementCase(KnownDevice("cpu"), Basis.EXPLICIT))


@models_call("torch.accelerator.current_accelerator")
def current_accelerator(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.accelerator.current_accelerator()`: a device without an index, or None if there is no accelerator.

    Without `check_available=True`, torch returns the accelerator for which it was built, and None where it was built
    for none. Where that accelerator is not available, a program that uses it fails, so both forms have the same model.
    """
    asked = frame.step(StepKind.PASSED, "None where there is no accelerator", call.node)
    device = PlacementCase(KnownDevice(ACCELERATOR), Basis.EXPLICIT, asked)
    found = ConditionalValue(availability.is_available(), DeviceValue(device), NONE)
    return frame.under_path(found)


@models_call("reveal_placement", "devlint.reveal_placement", "builtins.reveal_placement")
def reveal_placement(frame: Frame, call: LibraryCall) -> Value:
    """Model `reveal_placement(expr)` in analysed code: report what devlint knows of the value, and return the value."""
    if not call.arguments.positional:
        return UNKNOWN
    first = call.arguments.positional[0]
    context = frame.event_context(call.node)
    value = frame.resolve_value(first.value)
    text = source_line(context.place, first.node)
    frame.emit(RevealedValue(context, value, text, revealed_contents(frame, value)))
    return first.value
