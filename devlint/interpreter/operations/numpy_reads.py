"""Reads of tensors by NumPy, and by other code that reads an array's memory on the host."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.device import HOST, DeviceSymbol
from devlint.domain.path_conditions import Literal, PathCondition, closure, entails
from devlint.domain.placement import Basis, PlacementCase, StepKind, placement_cases
from devlint.domain.value import Tensor
from devlint.interpreter.operations.left_behind_tensors import is_moved_conditionally
from devlint.interpreter.operations.synchronization import unfinished_copy
from devlint.interpreter.operations.tensor_uses import is_differentiated_later
from devlint.interpreter.state.device_facts import device_type_atom, is_device_tested
from devlint.interpreter.state.events import HostRead
from devlint.interpreter.state.frame import Frame


def report_numpy_read(
    frame: Frame,
    tensor: Tensor,
    reader: str,
    node: cst.CSTNode,
    operand: cst.BaseExpression,
    *,
    force: bool = False,
    inside: bool = False,
    array: cst.BaseExpression | None = None,
    shared: bool = False,
) -> None:
    """Report that NumPy, or other code that calls `__array__`, reads a tensor on the host.

    `shared` is whether the array shares the tensor's memory, as that of `x.numpy()` does: who only returns it to a
    caller has not read its elements.
    `force` is whether the read moves the tensor to the host and detaches it, as `x.numpy(force=True)` does. `inside` is
    whether the tensor is in a container. `array` is the array that is the other operand, if there is one.
    """
    tensor = frame.resolve(tensor)
    if tensor.grad is None and is_differentiated_later(frame, operand):
        tensor = replace(tensor, grad=True)
    is_unread = shared and frame.analysis.use_def.is_only_handed_back(frame, node)
    frame.emit(
        HostRead(
            frame.event_context(node),
            reader,
            tensor,
            frame.place(operand),
            needs_host=not force and not frame.expects("TypeError"),
            needs_no_grad=not force and not frame.expects("RuntimeError"),
            unfinished=None if is_unread else unfinished_copy(frame, tensor),
            grad_enabled=frame.state.torch_state.grad,
            inside=inside,
            array=frame.place(array) if array is not None else None,
            chosen=_case_on_chosen_device(frame, tensor),
        )
    )
    if not force and not frame.expects("TypeError"):
        _assume_on_host(frame, tensor)


def _assume_on_host(frame: Frame, tensor: Tensor) -> None:
    """Assume that a tensor argument of the analysed function is on the host from here on.

    The program reads it through NumPy, which raises for a tensor on an accelerator.
    """
    device = tensor.placement.device if isinstance(tensor.placement, PlacementCase) else None
    if isinstance(device, DeviceSymbol):
        test = Literal(device_type_atom(device.origin, HOST, f'{device.text.strip("`")}.device.type == "{HOST}"'))
        if entails(frame.state.path_condition, test) is None:
            frame.state.assume(test)


def _case_on_chosen_device(frame: Frame, tensor: Tensor) -> tuple[PathCondition, PlacementCase] | None:
    """Return the case in which the program itself has put a tensor on a device of its caller's choice; None without it.

    The function lets the caller choose an accelerator, by a parameter `device` or by the device of an argument, and
    neither tests that device nor moves the tensor on some paths only. An argument counts as well if the function has
    put another tensor where the argument is, which says that it may be anywhere. The case comes with the literals that
    it needs beyond the path condition.
    """
    for when, leaf in placement_cases(tensor.placement, frame.state.path_condition):
        if leaf.basis is not Basis.CALLER or not isinstance(leaf.device, DeviceSymbol):
            continue
        if not _is_put(leaf) and not _is_followed(frame, leaf.device):
            continue
        if is_moved_conditionally(tensor.placement, leaf):
            return None
        if not is_device_tested(closure(frame.state.path_condition | when), leaf.device.origin):
            return when, leaf
    return None


def _is_put(leaf: PlacementCase) -> bool:
    """Return whether the program itself has put a tensor where it is."""
    return leaf.placing_step is not None and leaf.placing_step.kind in (StepKind.CREATED, StepKind.MOVED)


def _is_followed(frame: Frame, device: DeviceSymbol) -> bool:
    """Return whether a name of the function holds a tensor that the function has put on a device of its caller's.

    What a function that it calls has put there, such as one that works on arrays as well, says nothing of it.
    """
    held = (frame.resolve(one).placement for one in frame.state.names.values() if isinstance(one, Tensor))
    leaves = (one for one in held if isinstance(one, PlacementCase) and one.device == device and _is_put(one))
    return any(one.placing_step is not None and one.placing_step.scope is frame.scope for one in leaves)
