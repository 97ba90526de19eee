"""Transfers and casts of modules, which change their registered tensors in place."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import libcst as cst

from devlint.domain.dtype import Dtype, is_floating, promotion_category
from devlint.domain.join import alternatives, join_dtypes
from devlint.domain.placement import Placement
from devlint.domain.placement_lattice import join_under
from devlint.domain.value import Ref, Tensor, Value
from devlint.interpreter.objects.module_state import is_module, module_tensors, move_registered_tensors
from devlint.interpreter.objects.moved_modules import forget_moved_by_class
from devlint.interpreter.operations.repeated_transfers import repetition_of
from devlint.interpreter.operations.tensor_transfers import keeps_device
from devlint.interpreter.operations.transfer_requests import TransferRequest, read_transfer_request
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.events import Transfer
from devlint.interpreter.state.frame import Frame


def transfer_module(
    frame: Frame, owner: Ref, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move or cast the registered tensors of a module in place, emit the transfer, and return the module."""
    request = read_transfer_request(frame, method, arguments, node)
    first = _representative_tensor(frame, owner)
    move_registered_tensors(frame, owner, partial(_transferred, frame, request))
    forget_moved_by_class(frame, owner)
    if first is not None:
        after = _representative_tensor(frame, owner) or first
        frame.emit(
            Transfer(
                frame.event_context(node), method, frame.place(receiver), True, first.placement,
                after.placement if request.placement is None else request.placement,
                first.dtype, after.dtype, repetition=repetition_of(frame, receiver, request, node), in_place=True,
                moves=request.placement is not None,
                parameter=first.leaf is True,
            )
        )  # fmt: skip
    return owner


def transfer_some_submodule(frame: Frame, owner: Ref, method: str, arguments: Arguments, node: cst.CSTNode) -> None:
    """Move or cast an unknown submodule of a module: each registered tensor may change, or stay as it is."""
    request = read_transfer_request(frame, method, arguments, node)

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        moved, casted = _transferred(frame, request, placement, dtype)
        return join_under(None, placement, moved), join_dtypes(dtype, casted)

    move_registered_tensors(frame, owner, change)


def transfer_held_modules(frame: Frame, request: TransferRequest, held: Iterable[Value]) -> None:
    """Move or cast the modules that the program has given to an object of unknown class, which is moved in place."""
    for value in held:
        for one in alternatives(value):
            if is_module(frame, one):
                move_registered_tensors(frame, one, partial(_transferred, frame, request))


def _transferred(frame: Frame, request: TransferRequest, placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
    """Return the placement and dtype that a registered tensor of a module has after a transfer of the module."""
    if request.placement is not None and not keeps_device(placement, request.placement, frame):
        placement = request.placement
    if request.dtype is not None and _is_cast_with_module(dtype):
        dtype = request.dtype
    return placement, dtype


def _is_cast_with_module(dtype: Dtype) -> bool:
    """Return whether a cast of a module casts its tensors of a dtype: not the complex ones, nor those of integers.

    A tensor of which nothing is known may be one of those.
    """
    symbol = dtype.symbol
    return is_floating(dtype.name) or (
        dtype.name is None and symbol is not None and symbol.category < promotion_category("complex64")
    )


def _representative_tensor(frame: Frame, owner: Ref) -> Tensor | None:
    """Return the tensor that stands for a module's tensors: one of dtype float64, else the first; None without any.

    Parameters come before buffers.
    """
    found = [
        frame.resolve(tensor)
        for buffers in (False, True)
        for _, tensor in module_tensors(frame, owner, buffers=buffers)
    ]
    return next((one for one in found if one.dtype.name == "float64"), found[0] if found else None)
