"""Rule DEV501, which reports a clock that is read while the accelerator may still be computing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.device import is_accelerator
from devlint.domain.heat import Heat
from devlint.domain.placement import Loop, Place, Scope, Step, StepKind, placement_cases
from devlint.explain.assumptions import assumptions, chooses_device
from devlint.explain.place_texts import place_text
from devlint.explain.suggestions import is_in_main_block, places_in_loop
from devlint.explain.transfer_paths import transfer_paths
from devlint.fixes.fix_context import FixContext
from devlint.fixes.synchronization_fixes import synchronize_before_clock
from devlint.interpreter.program.kept_results import runs_once_in_loops
from devlint.interpreter.state import events
from devlint.rule import Finding, Rule


class UnsynchronizedTiming(Rule):
    """A clock is read around accelerator work that nothing has waited for.

    ## What it does
    Finds two clock reads whose difference is taken, with work launched on an accelerator between them and nothing in
    between that waits for that work.

    ## Why is this bad?
    Calls on an accelerator return when the work is queued. The clock then measures the time to queue it, often a
    hundredth of the time it takes, and a later line that happens to wait is charged for the rest.

    ## Example
    ```python
    import time

    import torch

    def measure():
        a = torch.rand(4096, 4096, device="cuda")
        start = time.perf_counter()
        b = a @ a
        print(time.perf_counter() - start)

    measure()
    ```

    ## Use instead
    ```python
    import time

    import torch

    def measure():
        a = torch.rand(4096, 4096, device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        b = a @ a
        torch.cuda.synchronize()
        print(time.perf_counter() - start)

    measure()
    ```

    ## Fix safety
    `torch.cuda.synchronize()` is put before both readings of the clock, where there is room for it, under a check of
    availability. Unsafe: waiting costs time itself, and where the two are far apart the wait may belong elsewhere.

    ## How it is confirmed at run time
    The recorder notes launches, waits and clock reads in the order in which they happen.

    ## Known limits
    Work launched before the first clock read and still running is not reported; `.item()`, `.cpu()`, `print` and the
    like count as waiting, and so do copies to the accelerator: of data in `torch.tensor(rows, device="cuda")`, or of an
    index that is on the host. An index of which nothing is known may be a mask, whose values the host reads, and is
    taken to wait. The time of a single run in an `if __name__ == "__main__":` block is an information, as it is
    mostly that of the accelerator's start, also where a helper reads the clock or the block tries a few known things;
    so is an interval in a loop if something in the interval waits, because each interval then waits for the rest of the
    one before, and any in a file that measures by events as well. A clock that was started before a loop, or in the
    iteration before, tells of its progress and is not reported, nor is the time of a loop that waits in each iteration,
    nor work that only the first iteration does, nor what a test measures, nor a time that no code reads, as one that is
    kept in a list or printed under `if False:`.
    Where something waited between the two reads, only modules, products, convolutions and the like
    count after it, and nothing of a loop in each iteration of which something waits, such as the blocking copy
    of a batch to the accelerator. Times that are only written down, and subtracted elsewhere, are not followed. Nothing
    is reported in a program that sets `CUDA_LAUNCH_BLOCKING`.
    """

    code = "DEV501"
    name = "unsynchronized-timing"
    fixable = True
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._timings: list[events.UnsynchronizedTiming] = []
        self._waits: defaultdict[Place, set[Place]] = defaultdict(set)
        """The waits of each iteration, by loop: where they stand in the text of the loop, or are called there."""
        self._uploads: defaultdict[Place, set[Place]] = defaultdict(set)
        """The same for blocking uploads, which wait until the accelerator has done what was launched before."""

    def check(
        self,
        event: events.UnsynchronizedTiming
        | events.HostRead
        | events.Transfer
        | events.Synchronize
        | events.HostIndex
        | events.DataUploaded,
    ) -> Iterator[Finding]:
        """Record a time measurement, or a loop that waits for the accelerator in each iteration; yield no finding.

        `final_findings` reports the measurements, when all waits are known.
        """
        if isinstance(event, events.UnsynchronizedTiming):
            self._timings.append(event)
        else:
            for loop in _loops(event.context.loop):
                if _is_in_each_iteration(event, loop) and (_surely_waits(event) or _uploads(event)):
                    waits = self._waits if _surely_waits(event) else self._uploads
                    waits[loop.place].add(_seen_from(loop.scope, event.context.place, event.context.scope))
        yield from ()

    def final_findings(self) -> Iterator[Finding]:
        """Yield the findings for the time measurements that do not wait for work on the accelerator.

        Those are differences of two clock reads between which work was launched and not waited for. A loop that reports
        its progress by the clock is not reported, nor is work of a loop that waits in each iteration, for a copy to the
        accelerator too: only the tail of the last one is then unfinished.
        """
        for event in self._timings:
            around = {one.place for one in _loops(event.context.loop)}
            within = {one.place for one in _loops(event.work.loop)} - around
            if not any(self._waits[loop] or self._uploads[loop] for loop in within):
                yield from self._finding(event)

    def _finding(self, event: events.UnsynchronizedTiming) -> Iterator[Finding]:
        """Yield the finding for a time measurement, unless it tells of a loop's progress or stands in a test."""
        clock, loop = event.context.place, event.context.loop
        if _is_of_tests(event.context.scope) or _is_progress(event) or _is_lap(event) or _is_of_first_iteration(event):
            return
        shifted = False
        if loop is not None:
            waits = self._waits[loop.place] | self._uploads[loop.place]
            written = places_in_loop(loop.place, event.started, clock, *waits)
            both = event.started in written and clock in written
            shifted = both and written.index(clock) - written.index(event.started) > 1
        work = _seen_from(event.context.scope, event.work.place, event.work.scope)
        yield Finding(
            clock,
            f"the clock is read while `{place_text(work)}` may still be running on the accelerator",
            (Step(StepKind.PASSED, "the clock is read first", event.started), event.work),
            "call `torch.cuda.synchronize()` before both readings of the clock, this one and the first",
            assumptions(event),
            # What an interval leaves unfinished is waited for in the next one: all but the last are as long as a step.
            # A single run at the end of a module, to try it out, is mostly the start of the accelerator.
            # Who also measures by events compares the two, or knows what the clock tells.
            Severity.INFO if shifted or event.beside_events or _tries_out(event) else None,
            subject=clock,
            make_fix=partial(_fix, event),
        )


def _is_progress(event: events.UnsynchronizedTiming) -> bool:
    """Return whether the clock was started before the loop that does the work, or in the iteration before.

    The loop may read the clock in functions that it calls, as in `meter.tick()`. A loop over several such meters that
    stands beside the work does not count.
    """
    for loop in _loops(event.context.loop):
        started = _seen_from(loop.scope, event.started, event.started_in)
        read = _seen_from(loop.scope, event.context.place, event.read_in)
        work = _seen_from(loop.scope, event.work.place, event.work.scope)
        written = places_in_loop(loop.place, started, read, work)
        if started != read and read in written and (work in written or read == event.context.place):
            return [one for one in written if one in (started, read)] != [started, read]
    return False


def _is_lap(event: events.UnsynchronizedTiming) -> bool:
    """Return whether a call in a loop reads the clock that the same call has started in an earlier iteration.

    Such laps join without a gap: what one leaves unfinished is in the next. A function that is called twice in an
    iteration, to start and to stop, is called in two places.
    """
    callers = set(map(id, _runs_around(event.read_in)))
    common = next((one for one in _runs_around(event.started_in) if id(one) in callers), None)
    started = _seen_from(common, event.started, event.started_in)
    return started == _seen_from(common, event.context.place, event.read_in)


def _is_of_first_iteration(event: events.UnsynchronizedTiming) -> bool:
    """Return whether the work that is timed is done in the first iteration of a loop only: `if step == 0: start()`."""
    scope = event.context.scope
    work = _seen_from(scope, event.work.place, event.work.scope)
    return (
        isinstance(scope.body, cst.CSTNode)
        and isinstance(work.node, cst.CSTNode)
        and runs_once_in_loops(scope.body, work.node)
    )


def _runs_around(run: Scope | None) -> Iterator[Scope]:
    """Yield a run of code and those that call it; nothing for None."""
    return run.around() if run is not None else iter(())


def _tries_out(event: events.UnsynchronizedTiming) -> bool:
    """Return whether a block for the run of a module as a script times what it does once, or a helper for it."""
    run = event.context.scope
    while run.caller is not None:
        run = run.caller
    return is_in_main_block(event.started, run) and all(one.counted for one in _loops(event.context.loop))


def _is_of_tests(scope: Scope | None) -> bool:
    """Return whether code is part of tests, or called by them."""
    while scope is not None:
        if scope.heat is Heat.ONCE:
            return True
        scope = scope.caller
    return False


def _loops(loop: Loop | None) -> Iterator[Loop]:
    """Yield a loop and the loops around it; nothing for None."""
    return loop.around() if loop is not None else iter(())


def _is_in_each_iteration(event: events.Event, loop: Loop) -> bool:
    """Return whether an event is in each iteration of a loop around it.

    Conditions that say no more than which device is used do not count, and loops within the loop are run.
    """
    return all(map(chooses_device, event.context.path_condition - loop.path_condition))


def _seen_from(seen: Scope | None, place: Place, scope: Scope | None) -> Place:
    """Return a place as a run of code sees it: where that run calls what leads there, or the place itself."""
    run = scope
    while run is not None and run is not seen:
        if run.called_at is not None and run.caller is seen:
            return run.called_at
        run = run.caller
    return place


def _surely_waits(event: events.Event) -> bool:
    """Return whether an event is a wait of the host for the accelerator."""
    context = event.context
    if isinstance(event, events.HostRead):
        placements = placement_cases(event.tensor.placement, context.path_condition)
        return any(is_accelerator(case.device) for _, case in placements)
    if isinstance(event, events.Transfer):
        return event.moves and event.non_blocking is False and any(one.downloads for one in transfer_paths(event))
    return isinstance(event, events.Synchronize)


def _uploads(event: events.Event) -> bool:
    """Return whether an event is a blocking copy to the accelerator, which takes its turn after all that runs there."""
    if isinstance(event, (events.HostIndex, events.DataUploaded)):
        return True
    if not isinstance(event, events.Transfer) or not event.moves or event.non_blocking is not False:
        return False
    return any(one.leaves_host for one in transfer_paths(event))


def _fix(event: events.UnsynchronizedTiming, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV501: synchronize with the accelerator before both clock reads."""
    return synchronize_before_clock(context, event.started, event.context.place)
