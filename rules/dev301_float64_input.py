"""Rule DEV301, which reports float64 data from NumPy, pandas or Python floats that reaches float32 weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Step, StepKind, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.dtype_texts import (
    conversion_step,
    conversion_suggestion,
    dtype_text,
    implicit_float64,
    operand_dtype_steps,
)
from devlint.explain.place_texts import callee_text, operand_text, operation_text
from devlint.fixes.cast_insertion import cast_operand, cast_where_data_enters
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.state.events import DtypeConflict, Operand
from devlint.rule import Finding, Rule


class Float64Input(Rule):
    """float64 from NumPy, pandas or Python floats reaches float32 weights.

    ## What it does
    Follows tensors made from NumPy arrays, pandas columns and Python floats, which are float64 there unless told
    otherwise, to the operation that refuses to mix them with float32: a layer, a matrix product, a convolution.

    ## Why is this bad?
    `torch.from_numpy`, `torch.tensor(array)` and `default_collate` keep float64, and layers do not promote: the call
    raises "mat1 and mat2 must have the same dtype" or "expected scalar type Float but found Double", often far from
    the array.

    ## Example
    ```python
    import numpy as np
    import torch
    from torch import nn

    model = nn.Linear(3, 1)
    features = torch.from_numpy(np.random.rand(8, 3))
    model(features)
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch
    from torch import nn

    model = nn.Linear(3, 1)
    features = torch.from_numpy(np.random.rand(8, 3)).float()
    model(features)
    ```

    ## Fix safety
    The tensor is cast where it comes into torch, or where it is used if that place is not for it alone. Unsafe: whoever
    else uses it gets less precise numbers.

    ## How it is confirmed at run time
    The program stops at that operation with a dtype error, and the recorder knows where the tensor was made.

    ## Known limits
    Arrays of unknown dtype (`np.load`, `df.values`) are not reported. float64 that was asked for
    (`dtype=torch.float64`, `.double()`) is `mixed-dtype-op`.
    """

    code = "DEV301"
    fixable = True
    name = "float64-input"
    severity = Severity.ERROR

    def check(self, event: DtypeConflict) -> Iterator[Finding]:
        """Yield a finding for a dtype conflict in which one operand is float64 only by default of NumPy or Python."""
        pair = implicit_float64(event)
        if pair is None:
            return
        wide, narrow = pair
        dtype = wide.tensor.dtype
        conversion = conversion_step(dtype)
        place = conversion.place if conversion is not None else event.context.place
        meeting = Step(StepKind.PASSED, f"{operand_text(wide)} meets {dtype_text(narrow)}", event.context.place)
        steps = steps_elsewhere(operand_dtype_steps(wide, run=event.context.scope), place)
        yield Finding(
            place,
            f"float64 {_source_phrase(dtype.source.value)} reaches {_target_phrase(event, narrow)}:"
            " this raises, because the dtypes must match",
            (*steps, meeting) if place != event.context.place else steps,
            conversion_suggestion(conversion, narrow.tensor.dtype.name or "float32")
            if conversion is not None
            else None,
            assumptions(event, dtype, narrow.tensor.dtype),
            subject=place,
            make_fix=partial(_fix, wide, narrow.tensor.dtype.name or "float32", conversion),
        )


def _fix(wide: Operand, dtype: str, conversion: Step | None, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV301: cast the data where torch converts it to a tensor.

    The fix casts the operand where it is used instead if there is no such conversion, or if data of another dtype may
    be converted there too.
    """
    if conversion is not None:
        with suppress(NoFix):
            return cast_where_data_enters(context, conversion, wide.tensor.dtype, dtype)
    return cast_operand(context, wide, dtype)


def _source_phrase(source: str) -> str:
    """Return a phrase for where the float64 data comes from: "from NumPy" or "from Python floats"."""
    return "from Python floats" if source == "Python floats" else "from NumPy"


def _target_phrase(event: DtypeConflict, narrow: Operand) -> str:
    """Return a phrase for what the float64 data reaches: a module's weights, or an operation and its other operand."""
    if narrow.of_module is not None:
        return f"`{callee_text(narrow.place)}`, whose weights are {narrow.tensor.dtype}"
    return f"{operation_text(event.operation)} with {dtype_text(narrow)}"
