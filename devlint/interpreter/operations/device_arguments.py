"""Device arguments (`"cuda"`, `torch.device(...)`, an index): the placements they name, and hard-coded accelerators."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import (
    ANY_INDEX,
    HOST,
    UNKNOWN_DEVICE,
    Device,
    InvalidDevice,
    KnownDevice,
    device_from_string,
    is_accelerator,
    is_host,
    parse_device,
)
from devlint.domain.join import alternatives
from devlint.domain.path_conditions import Literal, assume, atoms_of, entails
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    map_cases,
    placement_cases,
    without_index,
)
from devlint.domain.placement_lattice import join_under
from devlint.domain.record import replace
from devlint.domain.value import (
    NONE,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    DeviceValue,
    Number,
    StringPrefix,
    Tensor,
    Unknown,
    Value,
    named_placement,
)
from devlint.interpreter.operations.accelerator_names import is_text_of_no_accelerator, report_no_accelerator
from devlint.interpreter.operations.device_expressions import device_expressions_at
from devlint.interpreter.operations.satisfiability import is_satisfiable
from devlint.interpreter.state.abstract_state import HOST_BY_DEFAULT
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import IgnoredDeviceArgument, InvalidDeviceUsed
from devlint.interpreter.state.frame import Frame
from devlint.syntax.source_code import words_in


def default_placement(frame: Frame, function: str, node: cst.CSTNode) -> Placement:
    """Return the placement of a tensor made by a factory without a device argument.

    The tensor is on the default device, which is the host unless the program has set another.
    """
    given = frame.step(StepKind.CREATED, f"created by `{function}`, which took the default device", node)
    if frame.state.torch_state.default_device is None:
        report_ignored_device(frame, node)

    def place(leaf: PlacementCase) -> PlacementCase:
        if leaf != HOST_BY_DEFAULT:
            return replace(_on_current_device(frame, leaf), provenance=given, basis=Basis.EXPLICIT)
        return host_placement(frame, function, node)

    return map_cases(frame.state.torch_state.default_device or HOST_BY_DEFAULT, place)


def host_placement(frame: Frame, function: str, node: cst.CSTNode) -> PlacementCase:
    """Return the host as the placement of a tensor whose factory got no device argument.

    The provenance step of the creation records expressions for devices that can be used there, for a fix to insert.
    """
    step = frame.step(StepKind.CREATED, f"created on the host by `{function}`, which was given no device", node)
    return replace(HOST_BY_DEFAULT, provenance=replace(step, device_expressions=device_expressions_at(frame)))


def requested_placement(frame: Frame, value: Value, node: cst.BaseExpression, step: Step | None) -> Placement:
    """Return the placement that a device argument asks for, and report an invalid device.

    A device without an index, such as `cuda`, asks for the current one. `step` says how the program asked for the
    device.
    """
    placement = written_placement(frame, value, node, step)
    if frame.state.torch_state.current_device is None:
        return placement
    kinds = {_has_index_of_tensor(one) for one in alternatives(value)}
    if kinds == {True}:
        return placement
    index = None if kinds == {False} else ANY_INDEX
    return map_cases(placement, lambda leaf: _on_current_device(frame, leaf, index))


def _has_index_of_tensor(value: Value) -> bool | None:
    """Return whether a device argument is a tensor's device, which has an index; None for the text of some device."""
    match value:
        case Tensor():
            return True
        case DeviceValue(of_tensor=of_tensor):
            return of_tensor
        case DeviceType(whole=True):
            return None
    return False


def _on_current_device(frame: Frame, leaf: PlacementCase, index: int | None = None) -> PlacementCase:
    """Return one case of a placement with the index of the current device, or `index`, where it has no index."""
    if not isinstance(leaf.device, KnownDevice):
        return leaf
    device = resolve_device_index(frame, leaf.device)
    if device is leaf.device:
        return leaf
    return replace(leaf, device=device if index is None else replace(device, index=index))


_DEVICE_WORDS: Final = ("dev", "cuda", "gpu", "cpu", "rank", "accelerator")
"""Parts of the names that programs give to devices and to their indices."""


def is_called_device(node: cst.BaseExpression) -> bool:
    """Return whether an expression of unknown value names a device, such as `args.gpu`, `where["device"]`."""
    return any(part in word.lower() for word in words_in(node) for part in _DEVICE_WORDS)


class _NoDevice(int):
    """The index that a host tensor gives for its device."""


NO_DEVICE_INDEX: Final = Const(_NoDevice(-1))
"""What `get_device()` returns for a host tensor. It may be compared, but nothing can be moved there."""


def written_placement(frame: Frame, value: Value, node: cst.BaseExpression, step: Step | None) -> Placement:
    """Return the placement that a device argument names, with an index only if it names one.

    An invalid device is reported. `step` is the provenance step that says how the program asked for the device. The
    value None asks for the default device.
    """
    match value:
        case DeviceValue(placement=placement):
            return map_cases(placement, lambda leaf: _with_provenance(leaf, step))
        case Const(value=str(text)):
            return PlacementCase(_device_from_text(frame, text, node), Basis.EXPLICIT, step)
        case Const(value=bool()):
            return UNKNOWN_PLACEMENT
        case Const(value=int(index)):
            if isinstance(index, _NoDevice):
                frame.fail()
                return UNKNOWN_PLACEMENT
            if index < 0:
                _report_invalid(frame, node, str(index), "a device index is not negative")
                return UNKNOWN_PLACEMENT
            return PlacementCase(KnownDevice("cuda", index), Basis.EXPLICIT, step)
        case StringPrefix(prefix=prefix) if ":" in prefix:
            return PlacementCase(_device_from_prefix(frame, prefix, node), Basis.EXPLICIT, step)
        case Number(kind="int"):
            return PlacementCase(KnownDevice("cuda", ANY_INDEX), Basis.EXPLICIT, step)
        case Unknown(origin=origin, text=text) | Number(origin=origin, text=text) if origin is not None:
            return named_placement(origin, text, step)
        case DeviceType(placement=placement, whole=whole):
            named = placement if whole else without_index(placement)
            return map_cases(named, lambda leaf: _with_provenance(leaf, step))
        case DeviceString(placement=placement):
            return map_cases(placement, lambda leaf: replace(_device_of_string(leaf, value), provenance=step))
        case Tensor():
            return map_cases(frame.resolve(value).placement, lambda leaf: _with_provenance(leaf, step))
        case ConditionalValue(test=test, yes=yes, no=no):
            known = entails(frame.state.path_condition, test) if test is not None else None
            if known is not None:
                return written_placement(frame, yes if known else no, node, step)
            if test is not None and NO_DEVICE_INDEX in (yes, no):
                # Where there is no device to name, the call raises.
                frame.state.require(frozenset((~test if yes == NO_DEVICE_INDEX else test,)))
                return written_placement(frame, no if yes == NO_DEVICE_INDEX else yes, node, step)
            chosen, ends = _placement_under_test(frame, test, yes, node, step)
            other, other_ends = _placement_under_test(frame, test and ~test, no, node, step)
            if ends and other_ends:
                frame.state.live = False
            elif test is not None and (ends or other_ends):
                frame.state.require(frozenset((~test if ends else test,)))
            return join_under(test, chosen, other)
        case Const(value=None):
            return (
                default_placement(frame, "a factory", node)
                if step is None or step.kind is StepKind.CREATED
                else UNKNOWN_PLACEMENT
            )
    return UNKNOWN_PLACEMENT


def _placement_under_test(
    frame: Frame, test: Literal | None, value: Value, node: cst.BaseExpression, step: Step | None
) -> tuple[Placement, bool]:
    """Return the placement that a device argument names under the assumption that a condition holds, and if it ends.

    The path ends where the argument names no device, and where the condition cannot hold. Used for the two alternatives
    of a conditional value.
    """
    state = frame.state
    before, required, live, failed = state.path_condition, state.required, state.live, state.failed
    if test is not None:
        supposed = assume(before, test)
        if supposed is None:
            return UNKNOWN_PLACEMENT, True
        state.path_condition = supposed
    placement = written_placement(frame, value, node, step)
    ends = live and not state.live
    state.path_condition, state.required, state.live, state.failed = before, required, live, failed
    return placement, ends


def _with_provenance(leaf: PlacementCase, step: Step | None) -> PlacementCase:
    """Return one case of a placement (a device on some paths) with a given provenance step.

    A case that is torch's default device keeps its provenance, because the factory that used the default put it there.
    """
    if leaf.basis is Basis.DEFAULT and leaf.provenance is not None:
        return leaf
    return replace(leaf, provenance=step)


def _device_of_string(leaf: PlacementCase, written: DeviceString) -> PlacementCase:
    """Return the case of a placement that a string such as f"{device.type}:{index}" names, given that of its start."""
    device, colon, index = leaf.device, written.rest[:1], written.rest[1:]
    if not isinstance(device, KnownDevice) or device.index is not None or colon != ":":
        return UNKNOWN_PLACEMENT
    if device.type == HOST:
        return leaf
    if written.is_open:
        return replace(leaf, device=KnownDevice(device.type, ANY_INDEX))
    return replace(leaf, device=KnownDevice(device.type, int(index))) if index.isdecimal() else UNKNOWN_PLACEMENT


def _report_invalid(frame: Frame, node: cst.BaseExpression, written: str, reason: str) -> None:
    """Report a device that cannot exist, if some run of the program names it: conditions may exclude each other.

    The path ends where the device comes from elsewhere, so that whatever it is asked for next is not reported again.
    """
    if is_satisfiable(frame.state.path_condition):
        frame.emit(InvalidDeviceUsed(frame.event_context(node), written, reason))
        if not isinstance(node, cst.BaseString | cst.BaseNumber | cst.UnaryOperation):
            frame.fail()


def _device_from_text(frame: Frame, text: str, node: cst.BaseExpression) -> Device:
    """Return the device that a string constant names; report an invalid string and return an unknown device."""
    try:
        device = parse_device(text)
    except InvalidDevice as error:
        if is_text_of_no_accelerator(frame, text):
            report_no_accelerator(frame, None, "`str()` of it is 'None', which names no device", node)
        elif not frame.expects("RuntimeError") and not _may_be_registered(frame, text):
            _report_invalid(frame, node, text, str(error))
        return UNKNOWN_DEVICE
    return device


def _may_be_registered(frame: Frame, text: str) -> bool:
    """Return whether a file may import the package that registers the device type of a text (`torch_npu` for `npu`)."""
    type_ = text.partition(":")[0]
    return type_.isidentifier() and f"torch_{type_}" in frame.module.source.text


def _device_from_prefix(frame: Frame, prefix: str, node: cst.BaseExpression) -> Device:
    """Return the device that a string with a known beginning (`f"cuda:{rank}"`) names: a type with unknown index."""
    type_, _, rest = prefix.partition(":")
    if ":" in rest:
        _report_invalid(frame, node, prefix + "...", f"{rest.partition(':')[0]!r} is no device index")
        return UNKNOWN_DEVICE
    device = device_from_string(type_)
    return (
        KnownDevice(device.type, ANY_INDEX)
        if isinstance(device, KnownDevice) and device.type != HOST
        else UNKNOWN_DEVICE
    )


def resolve_device_index(frame: Frame, device: KnownDevice) -> KnownDevice:
    """Return a device such as `cuda` with the index of the current device, once the program has chosen one.

    Until then, and for a device with an index, return the device unchanged. `cuda` without an index means the current
    device.
    """
    current = frame.state.torch_state.current_device
    if current is None or device.index is not None or device.type == HOST:
        return device
    if current.is_named and device.is_named and current.type != device.type:
        return device
    return KnownDevice(device.type, current.index)


def may_name_accelerator(value: Value) -> bool:
    """Return whether a value is a device or names one, and may be an accelerator: a named unknown value may be."""
    match value:
        case DeviceValue(placement=placement):
            return not all(is_host(leaf.device) for _, leaf in placement_cases(placement))
        case Const(value=str(text)):
            return is_accelerator(device_from_string(text))
        case Const(value=int(index)):
            return not isinstance(index, bool) and index >= 0
        case Number(kind="int"):
            return True
        case Unknown(origin=origin):
            return origin is not None
    return False


def chosen_device(frame: Frame, given: Argument | None, type_: str) -> KnownDevice:
    """Return the device that a program makes the current one of a type, as by `torch.cuda.set_device(given)`.

    The index is None where the argument (None, a negative number, a device without an index) leaves the current one.
    """
    if given is None:
        return KnownDevice(type_, ANY_INDEX)
    chosen = {_chosen_index(frame, one, given.node) for one in alternatives(given.value)}
    return KnownDevice(type_, chosen.pop() if len(chosen) == 1 else ANY_INDEX)


def _chosen_index(frame: Frame, value: Value, node: cst.BaseExpression) -> int | None:
    """Return the index of the device that a value makes the current one; None where it leaves the current one."""
    match value:
        case Const(value=None):
            return None
        case Const(value=int(index)) if not isinstance(index, bool):
            return index if index >= 0 else None
    match written_placement(frame, value, node, None):
        case PlacementCase(device=KnownDevice(type=named) as device) if named != HOST:
            return device.index
    return ANY_INDEX


CURRENT_DEVICE: Final = "current device"
"""The attribute of a context object that holds the device which is the current one under the context."""


def report_ignored_device(frame: Frame, node: cst.CSTNode) -> None:
    """Report a tensor that a function makes or moves without its own parameter `device`, which its code ignores."""
    function = frame.function
    if function is not None and function.ignores_device:
        context = frame.event_context(node)
        frame.emit(IgnoredDeviceArgument(context, "device", function.name, frame.place(function.node)))


def is_behind_device_check(frame: Frame) -> bool:
    """Return whether the text of a condition on the current path mentions a device, a GPU or availability."""
    atoms = [atom for test in frame.state.path_condition for atom in atoms_of(test)]
    return any(atom.mentions(part) for atom in atoms for part in ("available", "cuda", "gpu", "device"))


def has_device_parameter(frame: Frame) -> bool:
    """Return whether the caller chooses the device by a parameter of the running function or its class's `__init__`.

    The parameter's name decides: it must contain `device`, `cuda` or `gpu`.
    """
    function = frame.function
    if function is None:
        return False
    names = [one.name for one in function.parameters]
    if function.owner is not None and "__init__" in function.owner.methods:
        names += [one.name for one in function.owner.methods["__init__"].parameters]
    return any(part in name.lower() for name in names for part in ("device", "cuda", "gpu"))


def is_absent_or_none(value: Value | None) -> bool:
    """Return whether an argument of a call is absent or is Python's None."""
    return value is None or value == NONE
