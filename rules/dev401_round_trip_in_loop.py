"""DEV401: a loop takes a tensor to the host and back, or to the accelerator and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Confidence, Fix, Severity
from devlint.domain.device import DeviceSymbol, is_accelerator, is_host
from devlint.domain.placement import Place, Step, StepKind, history, newest_step, placement_cases
from devlint.explain.conflict_stories import confidence, placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.places import place_text
from devlint.explain.suggestions import variable_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.dropping import drop_both
from devlint.fixes.sheet import FixContext, NoFix
from devlint.interpreter.state.events import HostRead, OpaqueTransfer, TensorRebuilt, Transfer
from devlint.rule import Finding, Rule


class RoundTripInLoop(Rule):
    """A loop takes a tensor from the accelerator to the host and back, or the other way round.

    ## What it does
    Finds, inside one loop, a transfer to the host whose result goes to an accelerator again, also after some
    arithmetic or through NumPy, and a transfer to an accelerator that is undone before anything used it there.

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
    Both transfers are left out where the tensor itself came back, and nothing was computed on the way. Unsafe: what
    was a copy is then the tensor itself.

    ## How it is confirmed at run time
    The recorder sees both transfers in each iteration, and the bytes they moved.

    ## Known limits
    Nothing is said where the host reads the value as well (`print`, `.item()`, NumPy arithmetic) or another name
    keeps it. Operations that only the host can do are not known; where the host computes something in between, the
    finding is likely and not certain.
    """

    code = "DEV401"
    name = "round-trip-in-loop"
    fixable = True
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._sent: dict[Place, tuple[TransferPath, ...]] = {}
        self._found: dict[Place, tuple[Finding, Step, frozenset[Place]]] = {}
        self._read: dict[Place, set[Place]] = defaultdict(set)
        self._shared: set[Place] = set()
        self._kept: set[Place] = set()

    def check(self, event: Transfer | OpaqueTransfer | TensorRebuilt | HostRead) -> Iterator[Finding]:
        """Remember transfers and reads; what they amount to is known at the end."""
        if isinstance(event, HostRead):
            self._note_read(event)
        elif isinstance(event, TensorRebuilt):
            if not event.only_use:
                self._shared.add(event.context.place)
        elif event.moves and not event.is_module:
            self._note_transfer(event)
        yield from ()

    def final_findings(self) -> Iterator[Finding]:
        """The round trips whose value nobody read on the way."""
        for finding, out, way_back in self._found.values():
            if self._read[out.place] <= way_back and not self._shared & way_back:
                yield finding

    def _note_read(self, event: HostRead) -> None:
        for _, leaf in placement_cases(event.tensor.placement):
            moved = newest_step(leaf.provenance, StepKind.MOVED)
            if moved is not None:
                self._read[moved.place].add(event.context.place)

    def _note_transfer(self, event: Transfer) -> None:
        every = tuple(transfer_paths(event))
        self._sent[event.context.place] = every
        if not event.single_use:
            self._kept.add(event.context.place)
        if not event.only_use and variable_text(event.receiver) is not None:
            return
        for back in every:
            out = newest_step(back.before.provenance, StepKind.MOVED)
            if out is None or not _in_one_loop(event, out):
                continue
            if event.untouched is not out and out.place in self._kept:
                continue
            there = next((one for one in self._sent.get(out.place, ()) if _undoes(event, out, one, back)), None)
            if there is not None:
                way_back = frozenset(step.place for step in history(back.before.provenance))
                self._found[event.context.place] = _finding(event, out, there, back), out, way_back
                return


def _in_one_loop(event: Transfer, out: Step) -> bool:
    """Whether both transfers happen in each iteration of some loop.

    What was computed in between must be of the very same loop: results that one inner loop collects and another takes
    up again had to wait somewhere.
    """
    if event.context.loop is None or out.loop is None:
        return False
    if event.untouched is not out:
        return out.loop is event.context.loop
    around = {loop.place for loop in out.loop.around()}
    return any(loop.place in around for loop in event.context.loop.around())


def _undoes(event: Transfer, out: Step, there: TransferPath, back: TransferPath) -> bool:
    """Whether `back` undoes `there`: by way of an accelerator only if nothing was computed on it."""
    if not is_host(there.after.device):
        return event.untouched is out and _may_upload(there) and back.downloads
    if is_accelerator(there.before.device):
        return back.uploads
    return isinstance(back.after.device, DeviceSymbol) and there.before.device == back.after.device


def _may_upload(there: TransferPath) -> bool:
    """Whether it goes to an accelerator from the host, or from where nobody knows."""
    return is_accelerator(there.after.device) and not is_accelerator(there.before.device)


def _finding(event: Transfer, out: Step, there: TransferPath, back: TransferPath) -> Finding:
    via = "the host" if is_host(back.before.device) else device_text(back.before)
    computed = event.untouched is not out
    sure = confidence(event, back.before, back.after)
    return Finding(
        event.context.place,
        f"`{place_text(event.receiver)}` goes to {device_text(back.after)}, where it came from, by way of {via}"
        f" in every iteration{condition_text(back.when)}",
        placement_steps(there.before, back.before),
        "leave both transfers out" + (": compute it where it is" if computed else ""),
        Confidence.LIKELY if computed and sure is Confidence.CERTAIN else sure,
        subject=out.place,
        make_fix=partial(_fix, event, out),
    )


def _fix(event: Transfer, out: Step, context: FixContext) -> Fix:
    if event.untouched is not out:
        raise NoFix
    return drop_both(context, out.place, event.context.place)
