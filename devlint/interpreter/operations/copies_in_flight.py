"""Copies out of pinned memory that the host does not wait for, and writes of the host to such memory meanwhile."""

from __future__ import annotations

import libcst as cst

from devlint.domain.device import DeviceSymbol, is_accelerator, is_host
from devlint.domain.objects import Sequence
from devlint.domain.path_conditions import NO_CONDITION, PathCondition, conjoin
from devlint.domain.placement import Basis, Placement, PlacementCase, Step, placement_cases
from devlint.domain.record import replace
from devlint.domain.storage import CopyInFlight, PinnedMemory, Storage, views_overlap
from devlint.domain.value import Ref, Tensor, Value
from devlint.interpreter.state.abstract_state import State
from devlint.interpreter.state.events import OverwrittenCopy
from devlint.interpreter.state.frame import Frame


def new_pinned_storage(frame: Frame) -> Storage:
    """Return the description of new pinned memory, which the code being run makes."""
    loops = frame.loop.around() if frame.loop is not None else ()
    return Storage(PinnedMemory(next((one for one in loops if not one.counted), None)))


def _is_one_block(frame: Frame, memory: Storage) -> bool:
    """Return whether memory is pinned, and one block of it wherever the code being run names it."""
    if not isinstance(memory.root, PinnedMemory):
        return False
    made = memory.root.loop
    return made is None or (frame.loop is not None and any(one.place == made.place for one in frame.loop.around()))


def record_copy_in_flight(frame: Frame, source: Tensor, target: Placement, step: Step) -> None:
    """Record a non_blocking copy of a tensor in pinned memory of the host to an accelerator."""
    if not source.pinned or source.memory is None or not _is_one_block(frame, source.memory):
        return
    path_condition = frame.state.path_condition
    for needed, before in placement_cases(source.placement, path_condition):
        for more, after in placement_cases(target, path_condition | needed):
            if is_host(before.device) and may_be_accelerator(after):
                when = path_condition | needed | more
                copy = CopyInFlight(source.memory.root, source.memory, step, after, when)
                torch_state = frame.state.torch_state
                frame.state.torch_state = replace(torch_state, in_flight=torch_state.in_flight | {copy})
                return


def may_be_accelerator(leaf: PlacementCase) -> bool:
    """Return whether a device is an accelerator, or chosen by the caller in a way that suggests an accelerator.

    A non_blocking copy suggests that the device chosen by the caller is an accelerator.
    """
    return is_accelerator(leaf.device) or (isinstance(leaf.device, DeviceSymbol) and leaf.basis is Basis.CALLER)


def report_overwritten_copy(
    frame: Frame, written: Value, memory: Storage | None, target: cst.BaseExpression, node: cst.CSTNode
) -> None:
    """Report a write of the host to memory out of which a copy may be running; `memory` is that of the value written.

    `target` is the expression that is written to.
    """
    copies = frame.state.torch_state.in_flight
    if not copies or memory is None or not _is_one_block(frame, memory):
        return
    host = _host_conditions(frame, written)
    for copy in sorted(copies, key=lambda one: one.at_yield):
        if copy.root != memory.root or not views_overlap(copy.source, memory):
            continue
        together = conjoin(frame.state.path_condition, copy.when)
        if together is not None and any(conjoin(together, needed) is not None for needed in host):
            event = OverwrittenCopy(frame.event_context(node), frame.place(target), copy)
            if copy.at_yield:
                frame.analysis.writes_when_resumed.append(event)
            else:
                frame.emit(event)
            return


def _host_conditions(frame: Frame, written: Value) -> list[PathCondition]:
    """Return the conditions under which a value lies on the host, which has all arrays."""
    if not isinstance(written, Tensor):
        return [NO_CONDITION]
    cases = placement_cases(written.placement, frame.state.path_condition)
    return [needed for needed, leaf in cases if is_host(leaf.device)]


def suspend_copies(frame: Frame) -> None:
    """Mark the copies that are running when a generator yields a value: whoever takes the value may wait for them."""
    copies = frame.state.torch_state.in_flight
    if copies:
        frame.set_torch_state({"in_flight": frozenset(replace(one, at_yield=True) for one in copies)})


def take_generator_writes(frame: Frame, made: Sequence, generator: Ref, earlier: int) -> None:
    """Store with a generator, whose body has just been run, its writes to memory out of which a copy may be running.

    The copies were made before a `yield`, so it depends on the code that takes the values whether they are running
    still. Nothing is known of copies once the generator has ended. `earlier` is the number of such writes that other
    generators, which are still being run, have made.
    """
    analysis = frame.analysis
    if len(analysis.writes_when_resumed) > earlier:
        analysis.generator_writes[generator.address] = tuple(analysis.writes_when_resumed[earlier:])
        del analysis.writes_when_resumed[earlier:]
        frame.put(generator.address, replace(made, generator=generator.address))
    copies = frame.state.torch_state.in_flight
    if any(one.at_yield for one in copies):
        frame.set_torch_state({"in_flight": frozenset(one for one in copies if not one.at_yield)})


def report_writes_on_resuming(frame: Frame, made: Sequence, end: State, epoch: int) -> None:
    """Report the writes that a generator makes before its next value, if a loop has not waited since it took the last.

    `made` is what the loop goes over, `end` the state at the end of a pass, and `epoch` the number of synchronisations
    when the pass took its value.
    """
    if made.generator is None or not end.live or end.torch_state.epoch != epoch:
        return
    for event in frame.analysis.generator_writes.get(made.generator, ()):
        if conjoin(end.path_condition, event.context.path_condition) is not None:
            frame.emit(event)
