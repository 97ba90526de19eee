"""Rule DEV302, which reports two dtypes in an operation that does not promote its operands to a common dtype."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.caller_arguments import at_caller, is_callers
from devlint.explain.device_texts import condition_text
from devlint.explain.dtype_texts import dtype_text, implicit_float64, operand_dtype_steps
from devlint.explain.place_texts import dotted_name_at, operation_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH, cast_text, without_cast
from devlint.fixes.cast_insertion import cast_operand
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.state.events import DtypeConflict, Operand
from devlint.rule import Finding, Rule


class MixedDtypeOp(Rule):
    """Two dtypes meet in an operation that does not promote.

    ## What it does
    Finds matrix products, convolutions, linear layers, recurrent layers and writes by index whose tensors have
    different dtypes, and in-place operations that would write floats into integers, or integers into bools.

    ## Why is this bad?
    Addition and its relatives promote their operands to a common dtype; these operations raise instead: "mat1 and
    mat2 must have the same dtype", "Index put requires the source and destination dtypes match".

    ## Example
    ```python
    import torch

    weight = torch.zeros(3, 4, dtype=torch.float64)
    inputs = torch.randn(2, 3)
    print(inputs @ weight)
    ```

    ## Use instead
    ```python
    import torch

    weight = torch.zeros(3, 4, dtype=torch.float64)
    inputs = torch.randn(2, 3)
    print(inputs @ weight.to(inputs.dtype))
    ```

    ## Fix safety
    One side is cast to the dtype of the other: the input of a module to that of its weights, what is assigned to an
    entry to that of the whole. Unsafe: it is a guess which of the two was meant.

    ## How it is confirmed at run time
    The program stops at that operation with a dtype error.

    ## Known limits
    Inside `torch.autocast` only what it does not cast is reported: in-place writes, float64, and operations that it
    leaves alone. float64 that came in from NumPy or Python floats unasked is `float64-input`.
    """

    code = "DEV302"
    fixable = True
    name = "mixed-dtype-op"
    severity = Severity.ERROR

    def check(self, event: DtypeConflict) -> Iterator[Finding]:
        """Yield a finding for a dtype conflict that rule DEV301 does not report."""
        if implicit_float64(event) is not None:
            return
        left, right = event.left, event.right
        if left.of_module is not None:
            left, right = right, left
        place = event.context.place
        verb = "cannot write its result" if event.into else "raises"
        steps = operand_dtype_steps(left, right, run=event.context.scope)
        yield Finding(
            place,
            f"{operation_text(event.operation)} {verb}: {dtype_text(left)}, meets {dtype_text(right)}"
            f"{condition_text(event.when)}",
            steps_elsewhere(steps, place),
            _help(event, left, right),
            assumptions(event, left.tensor.dtype, right.tensor.dtype),
            subject=_subject_place(left, right, place),
            make_fix=partial(_fix, event, left, right),
        )


def _fix(event: DtypeConflict, left: Operand, right: Operand, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV302: cast the operand that the advice of `_help` names.

    In an assignment to an entry, `x[i] = value`, the assigned value is cast. What a caller passes to a module, or to
    a function with weights of its own, is cast by that caller: others may pass the dtype of their weights.
    """
    assigned = next((one for one in (left, right) if one.name == "value"), None)
    moved, kept = _moved_and_kept(left, right)
    if assigned is not None:
        moved, kept = assigned, left if assigned is right else right
    if kept.of_module is not None:
        found = at_caller(moved, event.context.scope)
        if found is None or found.place.filename != event.context.place.filename:
            raise NoFix
        moved = found
    return cast_operand(context, moved, kept.tensor.dtype.name or "float32", kept)


def _help(event: DtypeConflict, left: Operand, right: Operand) -> str:
    """Return the advice for a finding of DEV302: cast one operand to the dtype of the other."""
    moved, kept = _moved_and_kept(left, right)
    wanted = kept.tensor.dtype.name or "float32"
    if kept.of_module is not None and is_callers(moved, event.context.scope):
        passed = at_caller(moved, event.context.scope)
        return f"cast it where it is passed{f': `{cast_text(passed.place, wanted)}`' if passed else ''}"
    other = dotted_name_at(kept.place)
    if other is not None and kept.of_module is None:
        cast = text_with_suffix(without_cast(moved.place, wanted), f".to({other}.dtype)", MAX_SUGGESTION_LENGTH)
    else:
        cast = cast_text(moved.place, wanted)
    return f"cast one of them: `{cast}`"


def _moved_and_kept(left: Operand, right: Operand) -> tuple[Operand, Operand]:
    """Return the operand to cast and the one whose dtype holds: weights keep theirs, and inputs are cast to it."""
    weights = right.of_module is not None or (right.tensor.cell is not None and left.tensor.cell is None)
    return (left, right) if weights else (right, left)


def _subject_place(left: Operand, right: Operand, place: Place) -> Place:
    """Return the source location that identifies the bug behind a dtype conflict.

    It is where the program wrote the dtype of one operand, if the dtype of only one was written, else the operation.
    """
    steps = [step for step in (left.tensor.dtype.provenance, right.tensor.dtype.provenance) if step is not None]
    return steps[0].place if len(steps) == 1 else place
