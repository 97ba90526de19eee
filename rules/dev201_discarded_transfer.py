"""Rule DEV201, which reports a transfer of a tensor whose result is thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import libcst as cst

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import KnownDevice
from devlint.domain.placement import Assumption, PlacementCase, Step
from devlint.domain.torch_names import CAST_METHODS, DEVICE_METHODS
from devlint.domain.value import Tensor
from devlint.explain.assumptions import assumptions, supposed_batches, supposed_types
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.dtype_texts import dtype_steps
from devlint.explain.neighbouring_statements import is_all_that_is_timed, is_done_by_next_statement
from devlint.explain.place_texts import place_text
from devlint.explain.suggestions import (
    MAX_SUGGESTION_LENGTH,
    collecting_statement,
    is_single_statement_loop,
    variable_node,
    variable_text,
)
from devlint.explain.transfer_paths import cases_if_unconditional
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.fixes.result_assignment import assign_result
from devlint.interpreter.state.events import DiscardedResult
from devlint.rule import Finding, Rule

RESULTS: Final = {"detach": "detached tensor", "pin_memory": "pinned copy"}
"""The phrases for the results of methods that do not transfer to a device."""


class DiscardedTransfer(Rule):
    """A tensor is moved, cast or detached, and the result is thrown away.

    ## What it does
    Finds statements such as `x.to(device)`, `x.cuda()`, `x.half()`, `x.detach()` or `x.pin_memory()` on a *tensor*
    whose result nobody takes.

    ## Why is this bad?
    These methods change nothing in place: they return another tensor. The statement has no effect, and the next
    operation meets the tensor where it always was. (`Module.to` is different: it moves the module itself.)

    ## Example
    ```python
    import torch

    mask = torch.ones(3)
    mask.to("cuda")
    ```

    ## Use instead
    ```python
    import torch

    mask = torch.ones(3)
    mask = mask.to("cuda")
    ```

    ## Fix safety
    Assigning the moved tensor to the variable it came from is safe. It is unsafe where the call casts or detaches,
    which changes what is computed, and where the variable is an attribute, an entry or the variable of a loop, which
    others may hold: a loop is turned into a list of what it moves. There is no fix for a parameter of a module.

    ## How it is confirmed at run time
    The recorder sees the transfer and that its result dies at once, while the receiver goes on being used where it
    was.

    ## Known limits
    Only what is known to be a tensor is reported: modules, `BatchEncoding` and other containers move in place, and of
    an argument without any evidence nothing is claimed. Beside a clock, `x.cpu()` may stand for its wait, and transfers
    alone between two reads of the clock are what is measured. A local variable that nothing reads afterwards,
    or that the next statement moves, is not reported. A transfer of something that has no name
    (`torch.zeros(1).cuda()`, to wake the device up) leaves nothing behind and is not reported.
    """

    code = "DEV201"
    name = "discarded-transfer"
    severity = Severity.ERROR
    fixable = True
    everywhere = True

    def check(self, event: DiscardedResult) -> Iterator[Finding]:
        """Yield a finding for a transfer of a variable whose result the program discards."""
        receiver = variable_text(event.receiver)
        if (
            event.idle
            or receiver is None
            or (event.timed and _may_be_meant_to_wait(event))
            or is_done_by_next_statement(event.context.place)
        ):
            return
        result, call = RESULTS.get(event.method, "tensor"), place_text(event.context.place)
        yield Finding(
            event.context.place,
            f"the {result} that `{call}` returns is thrown away: {_clause(receiver, event.method, event.tensor)}",
            _steps(event, receiver),
            f"keep the result: `{_keeping_statement(event, receiver)}`",
            (
                *assumptions(event),
                *_supposed(event),
                *_shown_by_uses(event, receiver),
                *supposed_batches(*cases_if_unconditional(event.tensor)),
            ),
            make_fix=partial(_fix, event),
        )


def _steps(event: DiscardedResult, receiver: str) -> tuple[Step, ...]:
    """Return the steps by which the receiver came to the dtype that a cast leaves it, or to the device."""
    if event.method in CAST_METHODS:
        return dtype_steps((f"`{receiver}`", event.tensor.dtype))
    return placement_steps(*((f"`{receiver}`", one) for one in cases_if_unconditional(event.tensor)))


def _fix(event: DiscardedResult, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV201: assign the result of the transfer to the variable that was moved."""
    call, receiver = event.context.place.node, variable_node(event.context.place)
    if not isinstance(call, cst.Call) or receiver is None or event.tensor.cell is not None:
        raise NoFix
    moves_only = not event.casts and "detach" not in place_text(event.context.place)
    is_safe = moves_only and not _supposed(event)
    return assign_result(context.region_at(event.context.place), call, receiver, safe=is_safe)


def _supposed(event: DiscardedResult) -> tuple[Assumption, ...]:
    """Return the assumption that the receiver is a tensor, where only the name of what it is passed to tells so."""
    return supposed_types(*cases_if_unconditional(event.tensor))


def _shown_by_uses(event: DiscardedResult, receiver: str) -> tuple[Assumption, ...]:
    """Return the assumption that the receiver is a tensor, where only its uses show it: some modules have them too."""
    if not event.supposed:
        return ()
    return (Assumption(AssumptionKind.TENSOR, f"`{receiver}` is a tensor", event.receiver),)


def _may_be_meant_to_wait(event: DiscardedResult) -> bool:
    """Return whether a discarded transfer may only serve to make the host wait, or to have its own time measured."""
    loop = event.context.loop
    return (
        event.method == "cpu"
        or '"cpu"' in place_text(event.context.place)
        or (loop is not None and is_single_statement_loop(loop.place))
        or is_all_that_is_timed(event.context.place)
    )


def _clause(receiver: str, method: str, tensor: Tensor) -> str:
    """Return the clause of the message that says what does not change for the receiver of the discarded transfer.

    Examples are "`x` stays on cpu" and "`x` keeps its dtype".
    """
    placement, dtype = tensor.placement, tensor.dtype.name
    device = (
        str(placement.device)
        if isinstance(placement, PlacementCase) and isinstance(placement.device, KnownDevice)
        else None
    )
    if method == "detach":
        return f"`{receiver}` keeps its graph"
    if method == "pin_memory":
        return f"`{receiver}` stays in pageable memory"
    if method in DEVICE_METHODS:
        return f"`{receiver}` stays on {device}" if device else f"`{receiver}` stays where it is"
    if method not in ("to", "type", "type_as"):
        return f"`{receiver}` stays {dtype}" if dtype else f"`{receiver}` keeps its dtype"
    known = ", ".join(one for one in (device, dtype) if one is not None)
    return f"`{receiver}` stays as it is ({known})" if known else f"`{receiver}` stays as it is"


def _keeping_statement(event: DiscardedResult, receiver: str) -> str:
    """Return the source text of a statement that keeps the result of the transfer, for the advice.

    It is an assignment or, for a transfer of a loop variable, a statement that collects the results of all iterations.
    """
    loop = event.context.loop
    call = event.context.place
    collected = collecting_statement(loop.place, receiver, call) if loop is not None else None
    return collected or f"{receiver} = {place_text(call, MAX_SUGGESTION_LENGTH)}"
