"""Rule DEV307, which reports arithmetic in float16 on the host."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.dtype_texts import operand_dtype_steps
from devlint.explain.place_texts import operand_text, operation_text
from devlint.interpreter.state.events import HalfOnHost
from devlint.rule import Finding, Rule


class HalfOnHostRule(Rule):
    """A tensor on the host is computed with in float16.

    ## What it does
    Finds products, convolutions and other arithmetic with float16 tensors, or modules cast by `.half()`, that lie on
    the host on every path. One finding for each tensor or module.

    ## Why is this bad?
    Few processors compute float16: torch converts to float32 and back, which can be slower than float32 itself, and
    some operators have no float16 kernel for the host in older releases ("not implemented for 'Half'"). float16 is
    meant for accelerators; bfloat16 is the narrow dtype that processors support best.

    ## Example
    ```python
    import torch

    weights = torch.rand(512, 512).half()
    print(weights @ weights)
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.rand(512, 512)
    print(weights @ weights)
    ```

    ## How it is confirmed at run time
    Nothing fails. The recorder counts the operators of each line.

    ## Known limits
    A tensor that lies on an accelerator where there is one is not reported, nor is anything inside of `autocast`.
    """

    code = "DEV307"
    name = "half-on-host"
    severity = Severity.INFO
    default = False

    def check(self, event: HalfOnHost) -> Iterator[Finding]:
        """Yield a finding for an operation that computes with a float16 tensor on the host."""
        operand, place = event.operand, event.context.place
        dtype = operand.tensor.dtype
        steps = steps_elsewhere(operand_dtype_steps(operand, run=event.context.scope), place)
        verb = "are" if operand.of_module is not None else "is"
        cast = dtype.provenance.place if dtype.provenance is not None else operand.place
        yield Finding(
            place,
            f"{operand_text(operand)} {verb} float16 on the host, where {operation_text(event.operation)} is slow in"
            " float16",
            steps,
            "compute in float32 or bfloat16 on the host, and cast to float16 on the accelerator",
            assumptions(event, operand.case, dtype),
            subject=cast,
        )
