"""Rule DEV303, which reports a transfer of a float64 tensor to an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.device_texts import condition_text
from devlint.explain.dtype_texts import conversion_step, dtype_steps, is_decided_in_scope, is_implicit
from devlint.explain.place_texts import place_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.cast_insertion import cast_with_transfer, comes_from_parameter
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import Transfer
from devlint.rule import Finding, Rule


class Float64OnAccelerator(Rule):
    """float64 is moved to an accelerator.

    ## What it does
    Finds transfers of float64 tensors to an accelerator where they cost something: in code that runs again and again (a
    loop, a `forward`, a training step, what those call), and at the top level of a script. Elsewhere, for a tensor of
    few elements, and where float64 was written out (`dtype=torch.float64`), it is only an information. Towards MPS,
    which has no float64, it is an error everywhere.

    ## Why is this bad?
    Accelerators compute float64 at 1/2 to 1/64 of their float32 speed, and it takes twice the memory and twice the
    transfer. It is rarely meant: NumPy, pandas and Python floats are float64 by default.

    ## Example
    ```python
    import numpy as np
    import torch

    signal = torch.from_numpy(np.linspace(0.0, 1.0, 100))
    signal = signal.to("cuda")
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch

    signal = torch.from_numpy(np.linspace(0.0, 1.0, 100))
    signal = signal.to("cuda", torch.float32)
    ```

    ## Fix safety
    The transfer casts to float32 as well. Unsafe: the numbers become less precise. Where the array is an
    argument, others may bring integers the same way, and the fix is only shown. There is none where float64 was
    written out, nor for modules.

    ## How it is confirmed at run time
    The recorder notes the dtype and the bytes of every transfer.

    ## Known limits
    A target device that only the caller knows is not reported, nor is a single number, which leaves the dtype of what
    it meets as it is, nor what the code around only casts or compares.
    """

    code = "DEV303"
    fixable = True
    name = "float64-on-accelerator"
    severity = Severity.WARNING

    def check(self, event: Transfer) -> Iterator[Finding]:
        """Yield a finding for a transfer of a float64 tensor to an accelerator that does not cast it."""
        if not event.moves or event.dtype_before.name != "float64" or event.dtype_after.name != "float64":
            return
        uploads = [path for path in transfer_paths(event) if path.uploads]
        if not uploads:
            return
        refused = next((path for path in uploads if str(path.after.device).startswith("mps")), None)
        if refused is None and (event.cast_at_once or event.one_number):
            return
        path = refused or uploads[0]
        conversion = conversion_step(event.dtype_before)
        place = event.context.place
        cast = text_with_suffix(event.receiver, ".float()", MAX_SUGGESTION_LENGTH)
        yield Finding(
            place,
            _message(event, path, refused=refused is not None),
            steps_elsewhere(dtype_steps((f"`{place_text(event.receiver)}`", event.dtype_before)), place),
            f"cast it before the transfer, or with it: `{cast}`",
            assumptions(event, path.before, event.dtype_before),
            _severity(event, refused=refused is not None),
            subject=conversion.place if conversion is not None else place,
            make_fix=partial(_fix, event),
        )


def _fix(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV303: cast to float32 in the transfer.

    The fix is only displayed, and not applied, when callers of the function choose the tensor's dtype.
    """
    if event.is_module or not is_implicit(event.dtype_before):
        raise NoFix
    region, call = context.region_at(event.context.place), node_at(event.context.place)
    foreign = comes_from_parameter(region, call) and not is_decided_in_scope(event.context.scope, event.dtype_before)
    return cast_with_transfer(region, call, "float32", Applicability.DISPLAY if foreign else Applicability.UNSAFE)


def _message(event: Transfer, path: TransferPath, *, refused: bool) -> str:
    """Return the message of a finding.

    `refused` tells that the target device is mps, which does not support float64.
    """
    receiver = f"`{place_text(event.receiver)}`"
    held = "parameters" if event.parameter else "buffers"
    subject = f"the float64 {held} of {receiver}" if event.is_module else f"the float64 tensor {receiver}"
    if refused:
        return f"{subject} cannot go to mps, which has no float64{condition_text(path.when)}"
    when = condition_text(path.when)
    return f"{subject} goes to {path.after.device}, where float64 is slow{when}"


def _severity(event: Transfer, *, refused: bool) -> Severity | None:
    """Return the severity of a finding: error on the device mps, info for float64 that is meant or that costs little.

    Returns None in any other case, which means the severity of the rule.
    """
    if refused:
        return Severity.ERROR
    costs = _is_at_top_level(event) or (event.context.hot and not event.few_elements)
    return None if costs and is_implicit(event.dtype_before) else Severity.INFO


def _is_at_top_level(event: Transfer) -> bool:
    """Return whether a transfer stands at the top level of a script, where it often moves the data of the whole run."""
    return event.context.scope.entry and not event.context.symbolic
