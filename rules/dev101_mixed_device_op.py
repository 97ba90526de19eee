"""Rule DEV101, which reports an operation whose tensors are on two devices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import StepKind
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.causes import conflict_cause
from devlint.explain.conflict_texts import (
    conflict_location_text,
    conflict_steps,
    conflict_subject,
    device_expression,
)
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import operand_text, place_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.fixes.fix_context import FixContext
from devlint.fixes.operand_placement import move_misplaced
from devlint.interpreter.state.events import OperandConflict
from devlint.rule import Finding, Rule


class MixedDeviceOp(Rule):
    """An operation meets tensors on two devices.

    ## What it does
    Reports an operator, function or method whose tensors are known to lie on different devices: the host and an
    accelerator, or two accelerators such as `cuda:0` and `cuda:1`. In-place operators, `torch.cat`, `torch.stack`
    and `torch.where` are included.

    ## Why is this bad?
    PyTorch never moves an operand by itself. The operation raises `RuntimeError: Expected all tensors to be on the
    same device`, on the first machine that has an accelerator and often not on the one where the code was written.

    ## Example
    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    image = torch.rand(3, 64, 64, device=device)
    mask = torch.ones(64, 64)
    image = image * mask
    ```

    ## Use instead
    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    image = torch.rand(3, 64, 64, device=device)
    mask = torch.ones(64, 64, device=device)
    image = image * mask
    ```

    ## Fix safety
    The tensor that lies elsewhere is made on the other's device, where something at hand says which one that is, or
    moved before it is used. Making it there is safe where the tensor is used once and holds no random numbers; all
    else is unsafe, for it is a guess which of the two was meant to move.

    ## How it is confirmed at run time
    The operation raises PyTorch's device error at the reported line. Without an accelerator, `devlint run` lets an
    emulated one raise it.

    ## Known limits
    A 0-dim host tensor is let through by many operations. Where the number of dimensions is not known, a finding is
    only possible, and needs a program that has put the one tensor on the host and the other on the accelerator. Two
    devices that depend on two conditions of their own are taken to agree.
    """

    code = "DEV101"
    fixable = True
    name = "mixed-device-op"
    severity = Severity.ERROR

    def check(self, event: OperandConflict) -> Iterator[Finding]:
        """Yield a finding for an operation whose operands are on two devices."""
        misplaced, other = event.misplaced, event.reference
        first, second = device_text(misplaced.case), device_text(other.case)
        if misplaced.place == other.place:
            problem = f"{operand_text(misplaced)} holds tensors on {first} and on {second}"
        else:
            problem = f"{operand_text(misplaced)} is on {first} but {operand_text(other)} is on {second}"
        yield Finding(
            event.reported,
            f"{problem}: they cannot be combined {conflict_location_text(event)}",
            trace=conflict_steps(event, event.reported),
            help=_help(event),
            assumptions=conflict_assumptions(event),
            subject=conflict_subject(event),
            cause=conflict_cause(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: OperandConflict, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV101: bring the misplaced operand to the other operand's device."""
    return move_misplaced(context, event)


def _help(event: OperandConflict) -> str:
    """Return the advice for a finding of DEV101: the transfer or `device=` argument that the author should write."""
    if event.misplaced.place == event.reference.place:
        return "bring them to one device before they are put together"
    device, place = device_expression(event, event.reference), event.misplaced.place
    cause = event.misplaced.case.placing_step
    created = cause is not None and cause.kind is StepKind.CREATED
    if created and cause is not None and cause.place == place:
        return f"create it there, with `device={device}`"
    moved = text_with_suffix(place, f".to({device})", MAX_SUGGESTION_LENGTH)
    if isinstance(event.context.place.node, cst.AugAssign) and event.context.place.node.target is place.node:
        # What the operation writes to cannot be moved on the way: `x.to(device) += y` is no Python.
        return (
            f"create `{place_text(place)}` there, with `device={device}`" if created else f"move it before: `{moved}`"
        )
    return f"move it with `{moved}`{', or create it there' if created else ''}"
