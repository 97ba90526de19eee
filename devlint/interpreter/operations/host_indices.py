"""Indices of the host into tensors on an accelerator: legal, but each is copied there before it selects anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devlint.domain.device import is_accelerator, is_host
from devlint.domain.join import without_none
from devlint.domain.objects import Sequence as SequenceObject
from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import PlacementCase, StepKind, placement_cases
from devlint.domain.value import NONE, Array, Const, Number, Rank, Ref, Tensor, Unknown, Value
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.events import HostIndex, Operand
from devlint.interpreter.state.frame import Frame


def report_host_indices(frame: Frame, base: Operand, indices: Sequence[Argument | None], node: cst.CSTNode) -> None:
    """Report the first index of a subscript that is a host tensor, an array or a list, into an accelerator tensor.

    A number is no such index, nor is a tensor that may be 0-dim: they need no memory on the accelerator. The host waits
    for the copy of the index, which takes its turn after all that was launched before.
    """
    for when, case in placement_cases(base.tensor.placement, frame.state.path_condition):
        if not is_accelerator(case.device):
            continue
        for index in indices:
            if index is None:
                continue
            found = _kind_on_host(frame, without_none(index.value), when)
            if found is not None:
                kind, more, leaf = found
                reported = Operand(base.name, base.place, base.tensor, case)
                created = leaf.placing_step if leaf is not None else None
                at = frame.place(index.node)
                frame.emit(HostIndex(frame.event_context(node), reported, at, kind, when | more, created))
                frame.synchronize(frame.step(StepKind.PASSED, "the index is copied here, which waits", node))
                return


def assume_wait_for_index(frame: Frame, base: Operand, indices: Sequence[Argument | None]) -> None:
    """Assume that the host waits for an index into an accelerator tensor if too little is known of the index.

    It may be a mask, whose values the host reads, or be copied from the host first.
    """
    values = [without_none(index.value) for index in indices if index is not None and index.value != NONE]
    uncertain = [value for value in values if isinstance(value, (Tensor, Unknown))]
    if not uncertain:
        return
    for when, case in placement_cases(base.tensor.placement, frame.state.path_condition):
        if is_accelerator(case.device) and any(_may_wait(frame, value, when) for value in uncertain):
            frame.synchronize()
            return


def _may_wait(frame: Frame, index: Tensor | Unknown, when: PathCondition) -> bool:
    """Return whether an index is unknown, a tensor of unknown dtype, or a tensor that may be on the host."""
    if isinstance(index, Unknown):
        return True
    tensor = frame.resolve(index)
    cases = placement_cases(tensor.placement, frame.state.path_condition | when)
    return tensor.rank is not Rank.ZERO and (
        not tensor.dtype.is_known or not all(is_accelerator(case.device) for _, case in cases)
    )


def _kind_on_host(
    frame: Frame, index: Value, when: PathCondition
) -> tuple[str, PathCondition, PlacementCase | None] | None:
    """Return what an index on the host is, in words, the literals under which it is there, and its case if it has one.

    None for any other index.
    """
    match index:
        case Tensor(rank=rank) if rank.is_dimensioned:
            tensor = frame.resolve(index)
            cases = placement_cases(tensor.placement, frame.state.path_condition | when)
            kind = "mask" if tensor.dtype.name == "bool" else "tensor"
            return next(((kind, more, case) for more, case in cases if is_host(case.device)), None)
        case Array():
            return "array", NO_CONDITION, None
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, SequenceObject) and thing.kind == "list" and all(map(_is_number, _parts(thing))):
                return "list", NO_CONDITION, None
    return None


def _parts(sequence: SequenceObject) -> Iterator[Value]:
    """Yield the values that a list holds; one stands for the elements of a list of unknown length."""
    yield from sequence.items if sequence.items is not None else (sequence.any,)


def _is_number(value: Value) -> bool:
    """Return whether a value is a number of the host."""
    return isinstance(value, Number) or (isinstance(value, Const) and isinstance(value.value, (bool, int)))
