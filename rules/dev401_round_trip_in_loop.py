"""Rule DEV401, which reports a loop that transfers a tensor to another device and back in each iteration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import libcst as cst

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import DeviceRelation, DeviceSymbol, is_accelerator, is_host, relate_devices
from devlint.domain.placement import (
    Assumption,
    Loop,
    Place,
    Step,
    StepKind,
    history,
    newest_step,
    placement_cases,
    steps_elsewhere,
)
from devlint.domain.value import OriginKind
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import numpy_detour_cause
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import cost_severity, frequency_text, is_always_paid
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import place_text, receiver_of, receiver_text
from devlint.explain.suggestions import variable_node
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.explain.written_reasons import is_on_host_on_purpose
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.fixes.transfer_removal import remove_round_trip, take_first_tensor
from devlint.interpreter.program.inner_loops import is_loop_variable
from devlint.interpreter.state.events import HostRead, OpaqueTransfer, TensorRebuilt, Transfer
from devlint.rule import Finding, Rule


class RoundTripInLoop(Rule):
    """A loop takes a tensor from the accelerator to the host and back, or the other way round.

    ## What it does
    Finds, inside one loop, a transfer to the host whose result goes to an accelerator again, also after some
    arithmetic or through NumPy functions that torch has too, and a transfer to an accelerator that is
    undone before anything used it there. The latter is only an information where the loop uploads other tensors as
    well and trains nothing: it is mostly the labels of an evaluation. So is any where a comment says why the host does
    the work (`# faster on the CPU`).

    ## Why is this bad?
    Each iteration copies the tensor twice and waits for the accelerator in between, although it ends where it began.

    ## Example
    ```python
    import torch

    def fade(state: torch.Tensor, steps: int):
        for _ in range(steps):
            host = state.cpu()
            host = host * 0.9
            state = host.to("cuda")
        return state

    fade(torch.rand(3, device="cuda"), 4)
    ```

    ## Use instead
    ```python
    import torch

    def fade(state: torch.Tensor, steps: int):
        for _ in range(steps):
            state = state * 0.9
        return state

    fade(torch.rand(3, device="cuda"), 4)
    ```

    ## Fix safety
    Both transfers are left out where the tensor itself came back, and nothing was computed on the way, also with an
    array in between. Unsafe: what
    was a copy is then the tensor itself.

    ## How it is confirmed at run time
    The recorder sees both transfers in each iteration, and the bytes they moved.

    ## Known limits
    Nothing is said where the host reads the value as well (`print`, `.item()`, a NumPy function that torch does not
    have) or another name keeps it, nor where an inner loop collects on the host what another one uploads again. Where
    the host computes something in between, the finding is likely and not certain.
    """

    code = "DEV401"
    name = "round-trip-in-loop"
    fixable = True
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._paths: dict[Place, tuple[TransferPath, ...]] = {}
        self._round_trips: dict[Place, tuple[Finding, Step, frozenset[Place]]] = {}
        self._uploads: dict[Place, set[Place]] = defaultdict(set)
        """The transfers to an accelerator in each loop, by the loop."""
        self._evaluated: dict[Place, Loop] = {}
        """The loops outside of training steps in which something is uploaded only to be read back, by the way back."""
        self._read_places: dict[Place, set[Place]] = defaultdict(set)
        self._reused_rebuilds: set[Place] = set()
        self._read_for: dict[Place, Place] = {}
        """Where the array is read from a tensor that a factory call makes a tensor of, with nothing in between."""
        self._reused_results: set[Place] = set()

    def check(self, event: Transfer | OpaqueTransfer | TensorRebuilt | HostRead) -> Iterator[Finding]:
        """Record a transfer of a tensor or a read by the host, and yield no finding.

        `final_findings` reports the round trips, which only all events together show.
        """
        if isinstance(event, HostRead):
            self._note_read(event)
        elif isinstance(event, TensorRebuilt):
            if not event.only_use:
                self._reused_rebuilds.add(event.context.place)
            elif event.origin is not None and event.origin.kind is OriginKind.TENSOR:
                self._read_for[event.context.place] = event.origin.step.place
        elif event.moves and not event.is_module:
            self._note_transfer(event)
        yield from ()

    def final_findings(self) -> Iterator[Finding]:
        """Yield a finding for each recorded round trip whose intermediate tensor nothing else reads.

        A tensor that goes up, down and up again makes two round trips of three transfers: the later one is reported.
        """
        begun = {out.place for _, out, _ in self._round_trips.values()}
        for back, (finding, out, way_back) in self._round_trips.items():
            if back in begun:
                continue
            if self._read_places[out.place] <= way_back and not self._reused_rebuilds & way_back:
                loop = self._evaluated.get(back)
                # What goes up beside other tensors, and comes back unused, is the labels that an evaluation compares.
                labels = loop is not None and (isinstance(loop.body, cst.CompFor) or len(self._uploads[loop.place]) > 1)
                yield replace(finding, severity=Severity.INFO) if labels else finding

    def _note_read(self, event: HostRead) -> None:
        """Record that the host reads a tensor, under each transfer that may have put the tensor on its device."""
        for _, leaf in placement_cases(event.tensor.placement):
            moved = newest_step(leaf.provenance, StepKind.MOVED)
            if moved is not None:
                self._read_places[moved.place].add(event.context.place)

    def _note_transfer(self, event: Transfer) -> None:
        """Record a transfer. If it undoes an earlier transfer in the same loop, also record the two as a round trip."""
        paths = tuple(transfer_paths(event))
        self._paths[event.context.place] = paths
        if not event.single_use:
            self._reused_results.add(event.context.place)
        if event.context.loop is not None and any(is_accelerator(path.after.device) for path in paths):
            for loop in event.context.loop.around():
                self._uploads[loop.place].add(event.context.place)
        if not event.only_use and variable_node(event.receiver) is not None:
            return
        for second_path in paths:
            out = newest_step(second_path.before.provenance, StepKind.MOVED)
            if out is None or not _in_one_loop(event, out):
                continue
            if event.previous_transfer is not out and out.place in self._reused_results:
                continue
            first_path = next(
                (one for one in self._paths.get(out.place, ()) if _undoes(event, out, one, second_path)), None
            )
            if first_path is not None:
                way_back = frozenset(step.place for step in history(second_path.before.provenance))
                read = self._read_for.get(event.receiver)
                rebuilt = read is not None and receiver_of(read) == out.place
                found = _finding(event, out, first_path, second_path, rebuilt=rebuilt)
                self._round_trips[event.context.place] = found, out, way_back
                if out.loop is not None and _is_unused(second_path) and not event.context.in_training_step:
                    self._evaluated[event.context.place] = out.loop
                return


def _in_one_loop(event: Transfer, out: Step) -> bool:
    """Return whether the transfer of `event` and the earlier transfer `out` both happen in each iteration of some loop.

    If something was computed between the transfers, they must have the same innermost loop: results that one inner loop
    collects and another inner loop reads have to be stored somewhere in between. What an inner loop collects as it is
    may be kept on the host for the same reason, as it is more than one tensor.
    """
    if event.context.loop is None or out.loop is None:
        return False
    if event.previous_transfer is not out:
        return out.loop is event.context.loop
    return out.loop.place in {loop.place for loop in event.context.loop.around()}


def _undoes(event: Transfer, out: Step, first_path: TransferPath, second_path: TransferPath) -> bool:
    """Return whether the transfer of `event` undoes the earlier transfer `out`, for one pair of devices of each.

    A round trip from the host to an accelerator and back counts only if nothing was computed on the accelerator, and if
    one function goes both ways: other callers of a function that uploads may compute with what it returns.
    """
    if not is_host(first_path.after.device):
        at_once = event.previous_transfer is out and out.scope is event.context.scope
        return at_once and _may_upload(first_path, out) and second_path.downloads
    start, end = first_path.before.device, second_path.after.device
    if is_accelerator(start):
        return second_path.uploads and relate_devices(start, end) is not DeviceRelation.DIFFERENT
    return isinstance(end, DeviceSymbol) and start == end


def _is_unused(second_path: TransferPath) -> bool:
    """Return whether a round trip begins on the host, so that the tensor comes back as it went up."""
    return is_accelerator(second_path.before.device)


def _may_upload(first_path: TransferPath, out: Step) -> bool:
    """Return whether a transfer to an accelerator starts from the host, as it does for what a loop goes over.

    Anything else of which nothing is known may have been computed on the accelerator; the transfer is then none.
    """
    if is_accelerator(first_path.before.device) or not is_accelerator(first_path.after.device):
        return False
    receiver = receiver_of(out.place)
    owner = variable_node(receiver) if receiver is not None else None
    loop = out.loop.body if out.loop is not None else None
    given = owner is not None and isinstance(loop, (cst.For, cst.CompFor)) and is_loop_variable(loop, owner)
    return given or is_host(first_path.before.device)


def _finding(
    event: Transfer, out: Step, first_path: TransferPath, second_path: TransferPath, *, rebuilt: bool
) -> Finding:
    """Return the finding for a round trip of a tensor: the first transfer `out`, and the transfer of `event` back.

    `first_path` and `second_path` are the source and destination devices of these two transfers. `rebuilt` tells that
    between them the tensor only becomes an array and a tensor again.
    """
    via = "the host" if is_host(second_path.before.device) else device_text(second_path.before)
    computed = not rebuilt and event.previous_transfer is not out
    device, owner = device_text(second_path.after), receiver_text(out.place)
    movable = Assumption(
        AssumptionKind.INTENT,
        f"torch can compute on {device} what the host computes in between",
        out.place,
    )
    when = frequency_text(event.context)
    unused = _is_unused(second_path)
    place = out.place if unused else event.context.place
    moved = f"`{place_text(event.receiver)}`"
    back = Step(StepKind.PASSED, f"read back to {device}", event.context.place)
    meant = is_on_host_on_purpose(out.place) or is_on_host_on_purpose(event.context.place)
    severity = cost_severity(event.context, little=meant or not is_always_paid(second_path.when))
    return Finding(
        place,
        f"`{place_text(place)}` is uploaded to {via} only to be read back{when}, and is never used there"
        if unused
        else f"`{owner}` is copied to {via} and back to {device}{when}",
        steps_elsewhere(
            (*placement_steps((moved, first_path.before), (moved, second_path.before)), *([back] if unused else [])),
            place,
        ),
        _help(device, owner, computed=computed, rebuilt=rebuilt),
        (*assumptions(event, second_path.before, second_path.after), *([movable] if computed else [])),
        severity,
        subject=out.place,
        # A warning speaks for what DEV409, an information, says of the same detour.
        cause=numpy_detour_cause(event.receiver) if severity is None and rebuilt else None,
        make_fix=partial(_fix, event, out, rebuilt),
    )


def _help(device: str, owner: str, *, computed: bool, rebuilt: bool) -> str:
    """Return the advice for a round trip to a device of a tensor with the text `owner`."""
    if rebuilt:
        return f"use `{owner}` itself"
    return (
        f"do the work in between on {device}, and leave both transfers out" if computed else "leave both transfers out"
    )


def _fix(event: Transfer, out: Step, rebuilt: bool, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV401: remove both transfers, and an array between them.

    Raises NoFix if something was computed between them.
    """
    if rebuilt:
        return take_first_tensor(context.region_at(event.context.place), node_at(event.context.place))
    if event.previous_transfer is not out:
        raise NoFix
    return remove_round_trip(context, out.place, event.context.place)
