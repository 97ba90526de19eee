"""Rule DEV609, which reports dtypes that the backend of the chosen device does not have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.device import KnownDevice
from devlint.domain.dtype import Dtype
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import PlacementCase, placement_cases, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text
from devlint.explain.dtype_texts import dtype_steps
from devlint.explain.place_texts import callee_text
from devlint.fixes.dtype_choice import take_float32
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import Event, RefusedOnBackend, Transfer
from devlint.rule import Finding, Rule
from devlint.semantics.dtype_limits import REFUSED_DTYPES


class BackendWithoutDtype(Rule):
    """A tensor is made or cast with a dtype that its device does not have.

    ## What it does
    Finds float64 on MPS: `torch.zeros(3, dtype=torch.float64, device="mps")`, and `x.double()` for a tensor there.
    What is moved there as float64 is reported by DEV303.

    ## Why is this bad?
    The line raises "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64"
    (aten/src/ATen/mps/EmptyTensor.cpp).

    ## Example
    ```python
    import torch

    device = "mps" if torch.backends.mps.is_available() else "cpu"
    scale = torch.ones(3, dtype=torch.float64, device=device)
    ```

    ## Use instead
    ```python
    import torch

    device = "mps" if torch.backends.mps.is_available() else "cpu"
    scale = torch.ones(3, dtype=torch.float32 if device == "mps" else torch.float64, device=device)
    ```

    ## Fix safety
    float32 is written in place of float64. Unsafe: the numbers are less exact, also on devices that have float64.

    ## How it is confirmed at run time
    The program is run on an emulated MPS, which refuses the dtype with torch's words.

    ## Known limits
    Only devices that the program names are judged: whether the accelerator of `torch.accelerator` is MPS is not known.
    """

    code = "DEV609"
    name = "backend-without-dtype"
    fixable = True
    severity = Severity.WARNING
    default = False

    def check(self, event: RefusedOnBackend | Transfer) -> Iterator[Finding]:
        """Yield a finding for a dtype that the backend of a tensor's device does not have."""
        if isinstance(event, RefusedOnBackend):
            yield _finding(event, event.dtype, event.case, event.when)
        elif not event.moves and event.dtype_after.name != event.dtype_before.name:
            for when, case in placement_cases(event.after, event.context.path_condition):
                refused = REFUSED_DTYPES.get(case.device.type, ()) if isinstance(case.device, KnownDevice) else ()
                if event.dtype_after.name in refused:
                    yield _finding(event, event.dtype_after, case, when)


def _finding(event: Event, dtype: Dtype, case: PlacementCase, when: PathCondition) -> Finding:
    """Return the finding for a dtype that the backend of a tensor's device does not have."""
    return Finding(
        event.context.place,
        f"`{callee_text(event.context.place)}` makes {dtype.name} on {case.device}{condition_text(when)}:"
        f" {case.device} has no {dtype.name}, so this raises",
        steps_elsewhere(
            (*dtype_steps(("the tensor", dtype)), *placement_steps(("the tensor", case))), event.context.place
        ),
        "choose a dtype that it has, such as float32, or keep the tensor on the host",
        assumptions(event, case, dtype, when=when),
        make_fix=partial(_fix, event),
    )


def _fix(event: Event, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV609: take float32."""
    return take_float32(context.region_at(event.context.place), node_at(event.context.place))
