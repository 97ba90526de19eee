"""Rule DEV304, which reports a loss function that is given targets of a dtype it does not accept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.dtype import FLOATS, is_floating
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import dtype_cause
from devlint.explain.dtype_texts import operand_dtype_steps
from devlint.explain.place_texts import operand_text
from devlint.explain.suggestions import cast_text
from devlint.fixes.cast_insertion import cast_operand
from devlint.fixes.fix_context import FixContext
from devlint.interpreter.state.events import RefusedTargetDtype
from devlint.rule import Finding, Rule


class LossTargetDtype(Rule):
    """A loss is given targets of a dtype it refuses.

    ## What it does
    Finds class-index losses (`nll_loss`, `cross_entropy`) with int32 targets, binary cross entropy with integer
    targets, and other losses whose targets have a dtype that torch does not take.

    ## Why is this bad?
    The loss raises: "expected scalar type Long but found Int", "result type Float can't be cast to the desired output
    type Long", "Found dtype Long but expected Float".

    ## Example
    ```python
    import torch
    from torch import nn

    criterion = nn.BCELoss()
    real = torch.full((8,), 1)
    criterion(torch.rand(8), real)
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    criterion = nn.BCELoss()
    real = torch.full((8,), 1.0)
    criterion(torch.rand(8), real)
    ```

    ## Fix safety
    The target is cast before the loss sees it. Unsafe: fractions are cut off where class indices are wanted, and it
    may be the loss that was chosen wrongly.

    ## How it is confirmed at run time
    The program stops at the loss with a dtype error.

    ## Known limits
    Only what torch itself refuses is reported: `cross_entropy` takes floating targets as probabilities, whatever was
    meant.
    """

    code = "DEV304"
    fixable = True
    name = "loss-target-dtype"
    severity = Severity.ERROR

    def check(self, event: RefusedTargetDtype) -> Iterator[Finding]:
        """Yield a finding for targets whose dtype the loss function does not accept."""
        dtype = event.operand.tensor.dtype
        place = event.context.place
        suggested = _suggested_dtype(event.accepted)
        steps = steps_elsewhere(operand_dtype_steps(event.operand, run=event.context.scope), place)
        yield Finding(
            place,
            f"`{event.loss}` takes {_phrase(event.accepted)} targets, and {operand_text(event.operand)} is {dtype}",
            steps,
            f"cast the targets: `{cast_text(event.operand.place, suggested)}`",
            assumptions(event, dtype),
            subject=dtype.provenance.place if dtype.provenance is not None else place,
            cause=dtype_cause(dtype),
            make_fix=partial(_fix, event, suggested),
        )


def _fix(event: RefusedTargetDtype, dtype: str, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV304: cast the targets to `dtype` where the loss function is called."""
    return cast_operand(context, event.operand, dtype)


def _phrase(accepted: tuple[str, ...]) -> str:
    """Return a phrase for the dtypes that a loss function accepts for its targets."""
    floating = [name for name in accepted if is_floating(name)]
    if floating and "int64" in accepted:
        return "int64 (class indices) or floating-point (probabilities)"
    return "floating-point" if len(floating) == len(accepted) else "int64"


def _suggested_dtype(accepted: tuple[str, ...]) -> str:
    """Return the dtype that the advice suggests for the targets of a loss function, from the dtypes that it accepts.

    It is int64 if accepted, else the most common floating dtype.
    """
    return (
        "int64"
        if "int64" in accepted
        else next((name for name in reversed(FLOATS[:3]) if name in accepted), accepted[0])
    )
