"""Rule DEV305, which reports an index or mask of a dtype that torch refuses there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import dtype_cause
from devlint.explain.device_texts import condition_text
from devlint.explain.dtype_texts import dtype_phrase, operand_dtype_steps
from devlint.explain.place_texts import operand_text, operation_text
from devlint.explain.suggestions import cast_text
from devlint.explain.torch_releases import refused_since
from devlint.fixes.cast_insertion import cast_operand
from devlint.fixes.fix_context import FixContext
from devlint.interpreter.state.events import RefusedIndexDtype
from devlint.rule import Finding, Rule


class IndexDtype(Rule):
    """An index has a dtype that torch refuses there.

    ## What it does
    Finds index tensors and masks of a dtype that the operation does not take: floats in `x[index]`, `nn.Embedding`,
    `gather`, `scatter` or `one_hot`, int32 where only int64 is taken, numbers where a mask must be bool.

    ## Why is this bad?
    The operation raises: "tensors used as indices must be long, int, byte or bool tensors", "gather(): Expected dtype
    int32/int64 for index", "one_hot is only applicable to index tensor of type LongTensor". `/` makes floats of
    integers, and so do factories without `dtype=`.

    ## Example
    ```python
    import torch

    frames = torch.rand(100, 8)
    middle = torch.arange(0, 100, 10) / 2
    print(frames[middle])
    ```

    ## Use instead
    ```python
    import torch

    frames = torch.rand(100, 8)
    middle = torch.arange(0, 100, 10) // 2
    print(frames[middle])
    ```

    ## Fix safety
    The index is cast before the operation sees it. Unsafe: fractions are cut off.

    ## How it is confirmed at run time
    The program stops at the operation with a dtype error.

    ## Known limits
    Python numbers, lists and NumPy arrays as indices are not judged. An empty index of a wrong dtype is reported
    everywhere, though `gather` and `scatter` let it pass. A project that pins a torch which took masks of uint8 (before
    2.1), or whose `/` made integers of integers (before 1.7), is not told of them.
    """

    code = "DEV305"
    fixable = True
    name = "index-dtype"
    severity = Severity.ERROR

    def check(self, event: RefusedIndexDtype) -> Iterator[Finding]:
        """Yield a finding for an index or mask whose dtype the operation does not accept."""
        dtype = event.operand.tensor.dtype
        place = event.context.place
        suggested = _suggested_dtype(event.accepted)
        steps = steps_elsewhere(operand_dtype_steps(event.operand, run=event.context.scope), place)
        yield Finding(
            place,
            f"{operand_text(event.operand)} is {dtype_phrase(dtype)}, but {operation_text(event.operation)} takes"
            f" {_alternatives(event.accepted)}{_argument(event)}{condition_text(event.when)}",
            steps,
            f"cast it: `{cast_text(event.operand.place, suggested)}`",
            assumptions(event, dtype),
            subject=dtype.provenance.place if dtype.provenance is not None else place,
            cause=dtype_cause(dtype),
            make_fix=partial(_fix, event, suggested),
            refused_since=refused_since(dtype, event.accepted),
        )


def _fix(event: RefusedIndexDtype, dtype: str, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV305: cast the index to `dtype` where the operation takes it."""
    return cast_operand(context, event.operand, dtype)


def _argument(event: RefusedIndexDtype) -> str:
    """Return the end of a sentence that names the argument; nothing for a subscript, which has one only."""
    return f" for its `{event.operand.name}`" if event.operation != "indexing" else ""


def _alternatives(names: tuple[str, ...]) -> str:
    """Return a phrase for one of several names: "bool", "int32 or int64", "bool, int32 or int64"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _suggested_dtype(accepted: tuple[str, ...]) -> str:
    """Return the dtype that the advice suggests for an index, from the dtypes that the operation accepts."""
    return next((name for name in ("int64", "bool") if name in accepted), accepted[0])
