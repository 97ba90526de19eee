"""A library operation as its row describes it: what it checks, what it costs, and what comes out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.domain.device import is_accelerator
from devlint.domain.placement import UNKNOWN_PLACEMENT, placement_cases
from devlint.domain.value import NONE, Tensor, Value
from devlint.interpreter.objects.library_objects import move_arguments
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.argument_binding import bind_row_arguments
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.operations.operands import as_operand, operands_of
from devlint.interpreter.operations.operation_names import short_name
from devlint.interpreter.operations.result_tensors import result_tensor
from devlint.interpreter.operations.return_structures import structure_result
from devlint.interpreter.operations.synchronization import update_synchronization
from devlint.interpreter.state.arguments import Argument, Arguments, BoundArguments
from devlint.interpreter.state.events import DtypeConflict, HostOnlyOperand, IndexConflict, Operand, RefusedTargetDtype
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import rebind
from devlint.semantics.table import Row

_HALF_BESIDE_SINGLE: Final = ({"float16", "float32"}, {"bfloat16", "float32"})
RESHAPED: Final = frozenset(
    "squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ resize_ resize_as_ set_ detach_ requires_grad_ rename_"
    " as_strided_".split()
)
"""In-place methods that change how a tensor sees its memory, not what is in it."""

IMPLICIT: Final = "parameters"
"""The pseudo-argument of a module's row: its own parameters."""


INDICES: Final = frozenset({"index", "indices"})
"""Arguments that say what to take out of a tensor."""

OUT: Final = "out"
"""The argument that takes an operation's result: written to, and checked as the operands are."""


def apply_row(
    frame: Frame, row: Row, arguments: Arguments, receiver: Argument | None = None, own: Operand | None = None
) -> Value:
    """Run a library call by its row."""
    bound = bind_row_arguments(row, arguments, receiver, dict(frame.analysis.table.argument_aliases))
    variadic = any(name.startswith("*") and name != "*" for name in row.params)
    complete = arguments.complete or (variadic and arguments.spread is not None)
    return apply_bound_row(frame, row, bound, arguments.node, own, complete=complete)


def apply_bound_row(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    node: cst.CSTNode,
    own: Operand | None = None,
    *,
    complete: bool = True,
) -> Value:
    """Check an operation's operands, and compute what it returns."""
    operands = operands_of(frame, row, bound)
    same = row.same
    if own is not None:
        operands.append(own)
        same = (*same, IMPLICIT)
    out = as_operand(frame, OUT, bound[OUT][0]) if OUT in bound else None
    if out is not None and operands:
        operands.append(out)
        same = (*same, OUT)
    name = short_name(row.name)
    _check_host_only(frame, row, operands, node, name)
    grouped = [one for one in operands if one.name in same or one.name in row.index]
    if row.device.startswith("kwarg") and "device" in bound and bound["device"][0].value != NONE:
        # What `device=` is given for is brought there.
        grouped = []
    gathering = frozenset() if row.mutates else INDICES & row.index_dtypes.keys()
    clash = find_device_conflict(frame, node, name, grouped, row.scalars, row.index, row.mutates | {OUT}, gathering)
    if clash is not None:
        frame.emit(clash)
    elif not frame.state.torch_state.autocast and not _check_targets(frame, row, operands, node, name):
        _check_dtypes(frame, row, operands, node, name)
    update_synchronization(frame, row, bound, operands, node, name)
    _tell_writes(frame, row, bound, node)
    # What follows is read as if the tensor had been where it should: one bug is told once.
    mended = clash.other.tensor.placement if clash is not None else None
    if isinstance(clash, IndexConflict):
        mended = UNKNOWN_PLACEMENT
    if out is not None:
        return replace(out.tensor, fresh=None)
    result = result_tensor(frame, row, bound, operands, node, mended=mended, complete=complete)
    if row.moves:
        bound = move_arguments(frame, row, bound, result.placement)
    return structure_result(frame, row, bound, operands, result, node, complete=complete)


def _tell_writes(frame: Frame, row: Row, bound: BoundArguments, node: cst.CSTNode) -> None:
    if row.name.rpartition(".")[2] in RESHAPED:
        return
    for name in (*row.mutates, "out"):
        for argument in bound.get(name, ()):
            report_shared_write(frame, argument.value, argument.node, node)
            if isinstance(argument.value, Tensor) and argument.value.fresh is not None:
                rebind(frame, argument.node, argument.value, replace(argument.value, fresh=None))


# Checks


def _check_host_only(frame: Frame, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    for operand in operands:
        if operand.name not in row.host:
            continue
        for when, leaf in placement_cases(operand.tensor.placement, frame.state.path_condition):
            if is_accelerator(leaf.device):
                frame.emit(HostOnlyOperand(frame.event_context(node), name, replace(operand, leaf=leaf), when))
                break


def _check_dtypes(frame: Frame, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    for group in (*row.match, *row.match_or_half):
        known = [one for one in operands if one.name in group and one.tensor.dtype.name is not None]
        for left, right in pairwise(known):
            kinds = {left.tensor.dtype.name, right.tensor.dtype.name}
            if len(kinds) > 1 and not (group in row.match_or_half and kinds in _HALF_BESIDE_SINGLE):
                frame.emit(DtypeConflict(frame.event_context(node), name, left, right))
                return


def _check_targets(frame: Frame, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> bool:
    """Tell of a target whose dtype the loss refuses; whether there was one."""
    for operand in operands:
        accepted = row.target_dtypes.get(operand.name)
        dtype = operand.tensor.dtype.name
        if accepted and dtype is not None and dtype not in accepted:
            frame.emit(RefusedTargetDtype(frame.event_context(node), name, operand, tuple(sorted(accepted))))
            return True
    return False
