"""Rule DEV601, which reports an accelerator that is hard-coded, such as `"cuda"`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import Cause
from devlint.explain.compared_devices import is_compared_device
from devlint.explain.device_texts import BACKEND_NAMES
from devlint.explain.idle_transfers import does_nothing
from devlint.explain.place_texts import argument_places, dotted_name_at, hard_coded_text
from devlint.explain.transfer_paths import transfer_paths
from devlint.fixes.accelerator_choice import AVAILABILITY_CHECKS, check_availability, take_device
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state import events
from devlint.rule import Finding, Rule


class HardCodedAccelerator(Rule):
    """An accelerator is written out where nobody asked whether there is one.

    ## What it does
    Finds `.cuda()`, `device="cuda"`, `torch.device("cuda:0")` and `autocast("cuda")` with no check of availability
    around them and no argument by which the caller could choose.

    ## Why is this bad?
    The code runs on machines with that accelerator only: elsewhere it raises "Torch not compiled with CUDA enabled"
    or "Found no NVIDIA driver". In a library this decides for all its users.

    ## Example
    ```python
    import torch

    def positions(n: int):
        return torch.arange(n).cuda()

    positions(3)
    ```

    ## Use instead
    ```python
    import torch

    def positions(n: int, device: torch.device):
        return torch.arange(n, device=device)

    positions(3, torch.device("cpu"))
    ```

    ## Fix safety
    The device that the program chooses is taken where it has a name in scope, else that of a tensor or module beside
    it, else the accelerator where there is one, and the host elsewhere. Unsafe: it would often be better to take the
    device from an argument, and code that must not run on the host then does. There is no fix for the old tensor types,
    and for a second device. What one function names several times is mended at once.

    ## How it is confirmed at run time
    The program is run without an accelerator and stops there.

    ## Known limits
    A check of availability in another function is not seen. A device that has a name (`device = "cuda"` at the top of
    a script) is easily changed and is not reported. What one function names several times is one finding, whose steps
    tell the other places. A transfer that does nothing is left to DEV407, and mixed precision in a file that chooses
    its device to DEV611.
    """

    code = "DEV601"
    name = "hard-coded-accelerator"
    fixable = True
    severity = Severity.INFO
    default = False

    def __init__(self) -> None:
        self._written: dict[Place, events.HardCodedAccelerator] = {}
        self._autocasts: set[Place] = set()
        self._idle: dict[Place, bool] = {}
        """Whether each transfer does nothing, on every path and for every caller."""

    def check(
        self, event: events.HardCodedAccelerator | events.BackendWrittenOut | events.Transfer
    ) -> Iterator[Finding]:
        """Record a hard-coded accelerator that no check guards, or what other rules report of it; yield no finding.

        `final_findings` reports the accelerators. None is reported if a parameter lets the caller choose the device.
        """
        if isinstance(event, events.BackendWrittenOut):
            if event.chosen and not event.guarded and event.argument is not None:
                self._autocasts.add(event.argument)
        elif isinstance(event, events.Transfer):
            idle = not (event.is_module or event.copies or event.casts) and does_nothing(
                event, [*transfer_paths(event)]
            )
            self._idle[event.context.place] = idle and self._idle.get(event.context.place, True)
        elif not (
            event.guarded
            or event.choosable
            or dotted_name_at(event.context.place) is not None
            or is_compared_device(event)
        ):
            self._written.setdefault(event.context.place, event)
        yield from ()

    def final_findings(self) -> Iterator[Finding]:
        """Yield a finding for each recorded accelerator, but for those that DEV407 and DEV611 tell of."""
        told = {node for place, idle in self._idle.items() if idle for node in (place, *argument_places(place))}
        alike: defaultdict[Cause, list[events.HardCodedAccelerator]] = defaultdict(list)
        for event in self._written.values():
            if event.context.place not in told | self._autocasts:
                alike[_cause(event)].append(event)
        for cause, written in alike.items():
            for event in written:
                yield _finding(event, cause, written)


def _cause(event: events.HardCodedAccelerator) -> Cause:
    """Return what a hard-coded accelerator has in common with others: the function, and the advice."""
    scope = event.context.scope
    return Cause(("a written device", scope.filename, scope.name, _help(event)), recurs=True)


def _finding(event: events.HardCodedAccelerator, cause: Cause, alike: Sequence[events.HardCodedAccelerator]) -> Finding:
    """Return the finding for a hard-coded accelerator; `alike` are those with the same cause, itself included."""
    return Finding(
        event.context.place,
        f"`{hard_coded_text(event)}` works only where there {_needed(event)}: the device is hard-coded",
        help=_help(event),
        assumptions=assumptions(event),
        cause=cause,
        make_fix=partial(_fix, event, alike),
    )


def _needed(event: events.HardCodedAccelerator) -> str:
    """Return the words for what a hard-coded accelerator needs: `is CUDA`, `are 2 CUDA devices`."""
    name = BACKEND_NAMES.get(event.type, event.type)
    return f"are {event.index + 1} {name} devices" if event.index else f"is {name}"


def _help(event: events.HardCodedAccelerator) -> str:
    """Return the advice for a hard-coded accelerator: the device at hand, or who can choose it."""
    if event.index:
        counted = (
            f"check `torch.{event.type}.device_count()`" if event.type in ("cuda", "xpu") else "check their number"
        )
        return f"{counted}, or let the caller choose the devices"
    at_hand = _at_hand(event)
    if at_hand is not None:
        return f"take the device at hand: `{at_hand}`"
    match event.context.scope.body:
        case cst.FunctionDef(name=cst.Name(value=name), params=parameters):
            if event.owner or parameters.params or parameters.kwonly_params or parameters.posonly_params:
                return f"let the caller choose: add a parameter `device` to `{event.owner or name}`"
    check = AVAILABILITY_CHECKS.get(event.type, "torch.accelerator.is_available")
    return f'choose the device once: `device = torch.device("{event.type}" if {check}() else "cpu")`'


def _at_hand(event: events.HardCodedAccelerator) -> str | None:
    """Return the source text of a device that can be written in place of the hard-coded one; None if there is none."""
    found = event.chosen or event.neighbour
    return found.text if found is not None else None


def _fix(event: events.HardCodedAccelerator, alike: Sequence[events.HardCodedAccelerator], context: FixContext) -> Fix:
    """Return the fix for a finding of DEV601: take the device at hand, else the accelerator only where it is available.

    It mends all that are `alike`: where only one of them followed the machine, their tensors could not be combined.
    Raises NoFix for a second device, which the host cannot stand in for.
    """
    edits = dict.fromkeys(edit for one in alike for edit in _fix_one(one, context).edits)
    return replace(_fix_one(event, context), edits=tuple(edits))


def _fix_one(event: events.HardCodedAccelerator, context: FixContext) -> Fix:
    """Return the fix for one hard-coded accelerator alone."""
    if event.index:
        raise NoFix
    region, node, at_hand = context.region_at(event.context.place), node_at(event.context.place), _at_hand(event)
    return take_device(region, node, at_hand) if at_hand is not None else check_availability(region, node)
