"""Library operations by their rows of devlint's semantics table: operand checks, waits for the accelerator, results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

import libcst as cst

from devlint.domain.device import is_accelerator
from devlint.domain.dtype import UNKNOWN_DTYPE, is_floating
from devlint.domain.path_conditions import NO_CONDITION, PathCondition, assume
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, Placement, placement_cases
from devlint.domain.placement_lattice import failed_where
from devlint.domain.value import NONE, UNKNOWN, Tensor, Value
from devlint.interpreter.objects.library_objects import move_arguments
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.argument_binding import bind_row_arguments
from devlint.interpreter.operations.autocast_regions import cast_operands
from devlint.interpreter.operations.calls_into_other_files import (
    dtypes_at_call_from_given_file,
    refusal_at_call_from_given_file,
)
from devlint.interpreter.operations.device_conflicts import find_device_conflicts, report_conflict_unless_scalar
from devlint.interpreter.operations.equal_dtypes import match_dtypes
from devlint.interpreter.operations.float64_work import report_float64_work
from devlint.interpreter.operations.generator_devices import check_generator
from devlint.interpreter.operations.half_on_host import report_half_on_host
from devlint.interpreter.operations.index_dtypes import report_refused_index
from devlint.interpreter.operations.operands import as_operand, operands_of
from devlint.interpreter.operations.operation_names import short_name
from devlint.interpreter.operations.refused_calls import is_refused_call, joins_different_ranks
from devlint.interpreter.operations.result_dtypes import cases_of_operands
from devlint.interpreter.operations.result_tensors import result_tensor, where_nothing_failed
from devlint.interpreter.operations.return_structures import structure_result
from devlint.interpreter.operations.synchronization import update_synchronization
from devlint.interpreter.operations.tensor_ranks import is_promoting_summation, rank_by_rule
from devlint.interpreter.operations.written_dtypes import refused_output, refused_write
from devlint.interpreter.state.arguments import Argument, Arguments, BoundArguments
from devlint.interpreter.state.changed_tensors import change_tensor, written_tensor
from devlint.interpreter.state.events import (
    DeviceConflict,
    DtypeConflict,
    HostOnlyOperand,
    IndexConflict,
    ModuleInputConflict,
    Operand,
    OperandConflict,
    RefusedTargetDtype,
)
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

_HALF_AND_SINGLE: Final = ({"float16", "float32"}, {"bfloat16", "float32"})
"""The pairs of different dtypes that operands in a group of `Row.match_or_half` may have."""
_NORMALIZING: Final = frozenset({"weight", "bias", "running_mean", "running_var", "parameters"})
"""The parameters and statistics of a normalization, which follow its data in a group of `Row.match_or_half`."""
_CLASS_DTYPES: Final = frozenset({"int64", "uint8"})
"""The only integers that losses over classes accept; losses that compute with their targets accept others too."""
_Pair: TypeAlias = "tuple[Operand, Operand]"
"""Two operands whose dtypes differ."""
METADATA_MUTATIONS: Final = frozenset(
    "squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ resize_ resize_as_ set_ detach_ requires_grad_ rename_"
    " as_strided_".split()
)
"""In-place methods that change how a tensor sees its memory, and not the contents of the memory."""

MODULE_PARAMETERS: Final = "parameters"
"""The pseudo-parameter of a module's row that stands for the module's own parameters."""


INDEX_PARAMETERS: Final = frozenset({"index", "indices"})
"""Parameters that say what to take out of a tensor."""

OUT: Final = "out"
"""The parameter for the tensor that receives an operation's result; it is checked like the operands."""


def apply_row(
    frame: Frame, row: Row, arguments: Arguments, receiver: Argument | None = None, own: Operand | None = None
) -> Value:
    """Return the result of a library call by its row of the semantics table, after the checks of its operands.

    `receiver` is the object of a method call; `own` is the operand that stands for a called module's parameters.
    """
    bound = bind_row_arguments(row, arguments, receiver, frame.analysis.table.argument_aliases)
    if arguments.complete and arguments.spread is None and is_refused_call(row, bound, arguments.keywords):
        frame.fail()
        return UNKNOWN
    variadic = any(name.startswith("*") and name != "*" for name in row.params)
    complete = arguments.complete or (variadic and arguments.spread is not None)
    result = apply_bound_row(frame, row, bound, arguments.node, own, complete=complete)
    if isinstance(result, Tensor) and not arguments.complete:
        # An unknown number of sizes stands behind a star argument.
        return replace(result, rank=result.rank.lower_bound)
    return result


def apply_bound_row(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    node: cst.CSTNode,
    own: Operand | None = None,
    *,
    complete: bool = True,
) -> Value:
    """Check the operands of a library call, record the call's effects and return its result.

    The arguments are bound to the parameters of the call's row of the semantics table already. `complete` is whether
    all arguments of the call are known.
    """
    operands = operands_of(frame, row, bound)
    if joins_different_ranks(row, operands):
        frame.fail()
        return UNKNOWN
    same = row.same
    if own is not None:
        operands.append(own)
        same = (*same, MODULE_PARAMETERS)
    out = as_operand(frame, OUT, bound[OUT][0]) if OUT in bound else None
    if out is not None and operands:
        operands.append(out)
        same = (*same, OUT)
    name = short_name(row.name)
    _check_host_only(frame, row, operands, node, name)
    grouped = [one for one in operands if one.name in same or one.name in row.index]
    if row.device.startswith("kwarg") and "device" in bound and bound["device"][0].value != NONE:
        # With `device=`, the operation itself moves its operands to that device.
        grouped = []
    autocast = frame.state.torch_state.autocast
    casted = cast_operands(frame, row, bound, operands, out=out is not None) if autocast else operands
    gathering = frozenset() if row.mutates else INDEX_PARAMETERS & row.index_dtypes.keys()
    conflicts = find_device_conflicts(
        frame, node, name, grouped, row.scalars, row.index, row.mutates | {OUT}, gathering
    )
    if not conflicts and len(grouped) > 1:
        report_conflict_unless_scalar(frame, node, name, grouped, row.scalars)
    for conflict in conflicts:
        frame.emit(conflict)
    for conflict in conflicts:
        if isinstance(conflict, ModuleInputConflict) and conflict.module_call is not None:
            frame.analysis.failed_calls.add(conflict.module_call, conflict.when)
    refused = not (conflicts or _is_other_overload(row, bound)) and (
        report_refused_index(frame, row, operands, node, name)
        or _check_target_dtypes(frame, row, casted, node, name)
        or _check_dtypes(frame, row, bound, operands, casted, node, name)
    )
    operands = casted
    if row.match and not is_promoting_summation(bound):
        operands = match_dtypes(frame, row, operands)
    report_half_on_host(frame, row, operands, node, name)
    update_synchronization(frame, row, bound, operands, node, name)
    _report_writes(frame, row, bound, node)
    _change_sizes(frame, row, bound, operands)
    corrected_placement = _placement_after(conflicts[0]) if conflicts else None
    if out is not None:
        _record_writes(frame, row, bound, None)
        return replace(out.tensor, fresh=None, empty_sizes=None)
    result = result_tensor(
        frame, row, bound, operands, node, corrected_placement=corrected_placement, complete=complete
    )
    if refused:
        # The operation raises: its result has no dtype that could be wrong elsewhere.
        result = replace(result, dtype=UNKNOWN_DTYPE)
    else:
        report_float64_work(frame, row, operands, result.dtype, node, name)
    if row.rank == "broadcast" and _is_other_overload(row, bound):
        result = replace(result, rank=result.rank.lower_bound)
    _record_writes(frame, row, bound, result)
    if row.generator and "generator" in bound:
        check_generator(frame, bound["generator"][0], result.placement, node, name)
    if row.moves:
        bound = move_arguments(frame, row, bound, result.placement)
    return structure_result(frame, row, bound, operands, result, node, complete=complete)


def _placement_after(conflict: DeviceConflict) -> Placement:
    """Return the placement of the result of an operation that raises, so that one bug is reported once.

    The analysis goes on as if the misplaced tensor were on the right device, except under a condition that has put it
    on the wrong one. Where the program has written both devices out, either may be the right one: nothing is known.
    Nor is within the call of a module that was not moved, because all its parts are misplaced, nor in a function that
    was given the input for a module elsewhere, because all that comes from the input is misplaced.
    """
    if isinstance(conflict, IndexConflict):
        return UNKNOWN_PLACEMENT
    chosen = isinstance(conflict, OperandConflict) and conflict.misplaced.case.basis is Basis.EXPLICIT
    unmoved = isinstance(conflict, OperandConflict | ModuleInputConflict) and conflict.misplaced.is_part_of_module
    in_module = unmoved and any(call.is_module for call in conflict.context.calls)
    if chosen or in_module or (isinstance(conflict, ModuleInputConflict) and _is_given_input(conflict)):
        return failed_where(conflict.reference.tensor.placement, conflict.when)
    return where_nothing_failed(conflict.reference.tensor.placement, [conflict.misplaced.tensor.placement])


def _is_given_input(conflict: ModuleInputConflict) -> bool:
    """Return whether the input of a module on another device has come into the running code by a call."""
    given = conflict.reference if conflict.misplaced.is_part_of_module else conflict.misplaced
    return any(given.case.placing_step in call.causes for call in conflict.context.calls)


def _report_writes(frame: Frame, row: Row, bound: BoundArguments, node: cst.CSTNode) -> None:
    """Report an operation's in-place writes to shared memory."""
    for argument in _written_arguments(row, bound):
        report_shared_write(frame, argument.value, argument.node, node)


def _change_sizes(frame: Frame, row: Row, bound: BoundArguments, operands: list[Operand]) -> None:
    """Record what is known of a tensor's sizes after an operation that changes them in place, such as `unsqueeze_`."""
    if not row.mutates or row.name.rpartition(".")[2] not in METADATA_MUTATIONS:
        return
    rank = rank_by_rule(frame, row.rank, bound, [(one.name, one.tensor.rank) for one in operands])
    for name in row.mutates:
        for argument in bound.get(name, ()):
            if isinstance(argument.value, Tensor):
                changed = replace(argument.value, empty_sizes=None, rank=rank)
                change_tensor(frame, argument.node, argument.value, changed)


def _record_writes(frame: Frame, row: Row, bound: BoundArguments, result: Tensor | None) -> None:
    """Record what an operation writes: a tensor written to is no longer straight from a factory.

    Autograd follows the tensor that an in-place operation changes, once it follows the `result`. Running statistics,
    which a normalization writes beside its result, are not followed.
    """
    for argument in _written_arguments(row, bound):
        written = argument.value
        if isinstance(written, Tensor):
            in_place = row.name.endswith("_") and argument in bound.get(row.params[0], ())
            changed = written_tensor(frame, written, result if in_place else None)
            if argument in bound.get(OUT, ()):
                changed = replace(changed, empty_sizes=None)  # the operation resizes it to its result
            change_tensor(frame, argument.node, written, changed)


def _written_arguments(row: Row, bound: BoundArguments) -> Iterator[Argument]:
    """Yield the arguments to whose memory an operation writes."""
    if (row.mutates or OUT in bound) and row.name.rpartition(".")[2] not in METADATA_MUTATIONS:
        for name in (*row.mutates, OUT):
            yield from bound.get(name, ())


# Checks


def _check_host_only(frame: Frame, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> None:
    """Report operands on an accelerator where the operation takes only host tensors (`Row.host`)."""
    for operand in operands:
        if operand.name not in row.host:
            continue
        for when, leaf in placement_cases(operand.tensor.placement, frame.state.path_condition):
            if is_accelerator(leaf.device):
                frame.emit(HostOnlyOperand(frame.event_context(node), name, replace(operand, case=leaf), when))
                break


def _check_dtypes(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    operands: list[Operand],
    casted: list[Operand],
    node: cst.CSTNode,
    name: str,
) -> bool:
    """Report the first pair of operands of an operation that must have equal dtypes and do not.

    `casted` are the operands as autocast casts them. The event has them as they were, if these differ too. Return
    whether the operation fails in every case.
    """
    if is_promoting_summation(bound):
        return False
    pair, when = _unequal_operands(row, operands, casted), NO_CONDITION
    if pair is None:
        pair, when = _unequal_in_case(frame, row, operands, casted)
    if pair is not None:
        conflict = DtypeConflict(frame.event_context(node), name, *pair, when=when)
        frame.emit(dtypes_at_call_from_given_file(frame, conflict))
        return not when
    if row.mutates:
        refused = refused_write(frame, row, bound, casted)
    else:
        refused = refused_output(frame, row, bound, casted) if operands and operands[-1].name == OUT else None
    if refused is not None:
        conflict = DtypeConflict(frame.event_context(node), name, *refused, into=True)
        frame.emit(dtypes_at_call_from_given_file(frame, conflict))
    return False


def _unequal_operands(row: Row, operands: Sequence[Operand], casted: Sequence[Operand]) -> _Pair | None:
    """Return the first pair of operands that must have equal dtypes and do not; None if there is none."""
    for group in (*row.match, *row.match_or_half):
        known = [
            pair
            for pair in zip(operands, casted, strict=True)
            if pair[0].name in group and pair[1].tensor.dtype.name is not None
        ]
        for (left, left_cast), (right, right_cast) in pairwise(known):
            same = left_cast.tensor.dtype.name == right_cast.tensor.dtype.name
            if not same and not (group in row.match_or_half and _is_accepted_half(group, left_cast, right_cast)):
                differ = left.tensor.dtype.name != right.tensor.dtype.name
                return (left, right) if differ else (left_cast, right_cast)
    return None


def _unequal_in_case(
    frame: Frame, row: Row, operands: Sequence[Operand], casted: Sequence[Operand]
) -> tuple[_Pair | None, PathCondition]:
    """Return the first pair of operands whose dtypes differ in a case that the path allows, and the case's condition.

    Autocast regions, which cast operands of any dtype, are left to the dtypes that are known.
    """
    if operands is casted:
        for test, one in cases_of_operands(operands):
            pair = _unequal_operands(row, one, one)
            if pair is not None and assume(frame.state.path_condition, test) is not None:
                return pair, frozenset({test})
    return None, NO_CONDITION


def _is_other_overload(row: Row, bound: BoundArguments) -> bool:
    """Return whether a call of several tensors is made with one alone: another overload, whose dtypes the row lacks.

    `torch.where(mask)` returns indices, and takes a mask of any dtype.
    """
    if len(row.tensors) < 2:
        return False
    return any(bound.keys() <= set(one) and len({*row.tensors} & {*one}) == 1 for one in row.overloads[1:])


def _is_accepted_half(group: Sequence[str], left: Operand, right: Operand) -> bool:
    """Return whether two operands of a group that torch accepts in half precision beside float32 have such dtypes.

    A normalization accepts data in half precision beside parameters and statistics in float32, and not the reverse.
    """
    if {left.tensor.dtype.name, right.tensor.dtype.name} not in _HALF_AND_SINGLE:
        return False
    data = next((one for one in (left, right) if one.name == group[0]), None)
    if data is None or not _NORMALIZING.issuperset(group[1:]):
        return True
    return data.tensor.dtype.name != "float32"


def _has_fewer_dimensions(operand: Operand, other: Operand) -> bool:
    """Return whether a tensor surely has fewer dimensions than another one."""
    own, rank = operand.tensor.rank.number, other.tensor.rank
    return own is not None and own < (rank.number if rank.number is not None else rank.least)


def _check_target_dtypes(frame: Frame, row: Row, operands: list[Operand], node: cst.CSTNode, name: str) -> bool:
    """Report a target whose dtype a loss function does not accept; return whether there was one."""
    for operand in operands:
        accepted = row.target_dtypes.get(operand.name)
        integers = frozenset(one for one in accepted or () if not is_floating(one))
        if integers == _CLASS_DTYPES and _has_fewer_dimensions(operand, operands[0]):
            # Probabilities have the shape of the input, so that these are classes.
            accepted = integers
        dtype = operand.tensor.dtype.name
        if accepted and dtype is not None and dtype not in accepted:
            refusal = RefusedTargetDtype(frame.event_context(node), name, operand, tuple(sorted(accepted)))
            frame.emit(refusal_at_call_from_given_file(frame, refusal))
            return True
    return False
