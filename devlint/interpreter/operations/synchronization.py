"""Asynchronous execution: work launched on the accelerator, waits of the host, and copies that are unfinished."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.clock_reads import ClockRead
from devlint.domain.device import is_accelerator, is_host
from devlint.domain.placement import Basis, Placement, Step, StepKind, placement_cases
from devlint.domain.record import replace
from devlint.domain.value import Number, PendingCopy, Tensor
from devlint.interpreter.operations.copies_in_flight import may_be_accelerator
from devlint.interpreter.operations.row_conditions import is_passed
from devlint.interpreter.program.idle_values import is_idle
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import HostRead, Operand, UnsynchronizedTiming
from devlint.interpreter.state.frame import Frame
from devlint.semantics.operation_weights import is_heavy
from devlint.semantics.table import Row

METADATA_RETURNS: Final = ("number", "bool", "size", "string")
"""The values of `Row.returns` for operations that read a tensor's metadata and not its contents.

An operation whose row says that it waits for the accelerator (`Row.sync`) reads the contents all the same.
"""


def update_synchronization(
    frame: Frame, row: Row, bound: BoundArguments, operands: list[Operand], node: cst.CSTNode, name: str
) -> None:
    """Record the work that an operation launches on the accelerator and its waits, and report its reads on the host."""
    waits = row.sync == "always" or (row.sync != "" and not is_passed(bound, row.sync.removeprefix("unless:")))
    launched = any(
        is_accelerator(leaf.device)
        for one in operands
        for _, leaf in placement_cases(one.tensor.placement, frame.state.path_condition)
    )
    if waits and operands:
        _report_host_read(frame, operands[0], node, name)
    if launched:
        step = frame.step(StepKind.PASSED, f"`{name}` is launched on the accelerator", node)
        frame.launch(step, heavy=is_heavy(row))
    elif not operands:
        # A factory may fill memory on any device, so it may launch work on the accelerator.
        frame.state.torch_state = replace(frame.state.torch_state, last_wait=None)
    if waits and operands:
        if launched:
            frame.synchronize(frame.step(StepKind.PASSED, f"`{name}` waits for the accelerator", node))
        elif any(_is_not_surely_on_host(frame, one.tensor.placement) for one in operands):
            frame.synchronize()
    elif not (launched or row.view or row.may_view or row.returns.partition(":")[0] in METADATA_RETURNS):
        for operand in operands:
            if unfinished_copy(frame, operand.tensor) is not None:
                _report_host_read(frame, operand, node, name)


def check_clock_difference(frame: Frame, end: Number, start: Number, node: cst.CSTNode) -> None:
    """Report a difference of clock reads (`time.time() - start`) if accelerator work between them may be unfinished.

    If the work is the body of a `with` block, timed by its context manager, the report is kept in `block_timings` until
    the body has been interpreted. A time that no code reads is not reported, nor is the time since an object was made,
    which a constructor notes for stamps on messages, nor any time where the program makes all launches wait. If the
    host waited between the two reads, it has waited for the bulk of the work; a few elementwise operations after that
    change the time by next to nothing.
    """
    if not (isinstance(end.origin, ClockRead) and isinstance(start.origin, ClockRead)):
        return
    if start.origin.by_constructor:
        return
    program = frame.analysis.torch_defaults.entry_module or frame.module
    if frame.analysis.facts.blocking_launches.may_hold_for(program):
        return
    running = end.origin.unsynchronized
    work = running and running.after(start.origin.launches)
    if work is None or (end.origin.epoch != start.origin.epoch and work.heavy is None):
        return
    if _is_never_used(frame, node):
        return
    timing = UnsynchronizedTiming(
        replace(frame.event_context(node), place=end.origin.place),
        start.origin.place,
        work.main.step,
        start.origin.scope,
        end.origin.scope,
        frame.module.measures_by_events,
    )
    if is_with_block_work(timing.work):
        frame.analysis.block_timings.append(timing)
    else:
        frame.emit(timing)


def _is_never_used(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether nothing that runs reads the value of an expression."""
    if frame.analysis.use_def.gets_unread_name(frame, node):
        return True
    if frame.function is not None:
        return is_idle(frame.function.node, node, [frame.function.node])
    trees = (one.tree_or_none for one in frame.module.index.statements)
    return is_idle(frame.unit.tree, node, [one for one in trees if one is not None])


def _is_not_surely_on_host(frame: Frame, placement: Placement) -> bool:
    """Return whether a tensor may be on an accelerator, also where nothing is known of its device."""
    return any(not is_host(leaf.device) for _, leaf in placement_cases(placement, frame.state.path_condition))


def is_with_block_work(work: Step) -> bool:
    """Return whether accelerator work is that of a `with` block's body.

    The `yield` of the block's context manager stands for such work.
    """
    return isinstance(work.place.node, cst.Yield)


def unfinished_copy(frame: Frame, tensor: Tensor) -> PendingCopy | None:
    """Return the non_blocking copy that made a tensor if the host has not waited for it; None otherwise."""
    pending = tensor.pending
    return pending if pending is not None and pending.epoch == frame.state.torch_state.epoch else None


def pending_copy(
    frame: Frame, before: Placement, after: Placement, step: Step, *, non_blocking: bool | None
) -> PendingCopy | None:
    """Return the unfinished copy that a non_blocking transfer from an accelerator to the host starts.

    None for any other transfer. The copy stays unfinished until the host waits.
    """
    if not non_blocking:
        return None
    path_condition = frame.state.path_condition
    for needed, leaf in placement_cases(before, path_condition):
        ends = [end for _, end in placement_cases(after, path_condition | needed)]
        hosts = [end for end in ends if is_host(end.device)]
        # A tensor of the caller goes where another one is, which nobody may have moved yet: to its own device.
        is_asked_for = is_accelerator(leaf.device) or any(end.basis is Basis.EXPLICIT for end in hosts)
        if may_be_accelerator(leaf) and hosts and (is_asked_for or len(hosts) == len(ends)):
            break
    else:
        return None
    return PendingCopy(frame.state.torch_state.epoch, replace(step, message=f"{step.message}, which does not wait"))


def report_read_by_copy(frame: Frame, source: Operand, target: Placement, node: cst.CSTNode, name: str) -> None:
    """Report a copy within the host that reads an unfinished copy.

    A copy to the accelerator is no such read: it is queued on the stream behind the unfinished copy.
    """
    path_condition = frame.state.path_condition
    ends = [
        end
        for needed, leaf in placement_cases(source.tensor.placement, path_condition)
        if is_host(leaf.device)
        for _, end in placement_cases(target, path_condition | needed)
    ]
    if unfinished_copy(frame, source.tensor) is not None and ends and all(is_host(end.device) for end in ends):
        _report_host_read(frame, source, node, name)


def _report_host_read(frame: Frame, operand: Operand, node: cst.CSTNode, name: str) -> None:
    """Report that an operation reads a tensor on the host.

    The event names the non_blocking copy that made the tensor, if the host has not waited for that copy.
    """
    waited_for = unfinished_copy(frame, operand.tensor)
    frame.emit(HostRead(frame.event_context(node), name, operand.tensor, operand.place, unfinished=waited_for))
