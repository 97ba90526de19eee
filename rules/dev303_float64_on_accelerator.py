"""Rule DEV303, which reports a transfer of a float64 tensor to an accelerator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.placement import Place, Scope, Step, steps_elsewhere
from devlint.domain.value import Rank
from devlint.explain.assumptions import assumptions
from devlint.explain.device_texts import condition_text
from devlint.explain.dtype_texts import (
    conversion_step,
    conversion_suggestion,
    dtype_steps,
    is_decided_in_scope,
    is_implicit,
)
from devlint.explain.place_texts import place_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.cast_insertion import cast_where_data_enters, cast_with_transfer, comes_from_parameter
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import EventContext, Float64Work, Transfer
from devlint.rule import Finding, Rule


class Float64OnAccelerator(Rule):
    """float64 is moved to an accelerator.

    ## What it does
    Finds transfers of float64 tensors to an accelerator where the program then computes with them there, in the steps
    of a training and in functions that are called for each batch (a `forward`, a loss, what those call).
    Everywhere else, where no computation in float64 is seen, for a tensor of few elements, and where float64 was
    written out (`dtype=torch.float64`), it is only an information: readers of such findings in public code found that
    the cost did not show. Towards MPS, which has no float64, it is an error everywhere.

    ## Why is this bad?
    Accelerators compute float64 at 1/2 to 1/64 of their float32 speed, and it takes twice the memory and twice the
    transfer. It is rarely meant: NumPy, pandas and Python floats are float64 by default.

    ## Example
    ```python
    import numpy as np
    import torch

    def train(model, optimizer, names):
        for name in names:
            target = torch.from_numpy(np.loadtxt(name)).to("cuda")
            loss = (model(name) - target).pow(2).mean()
            loss.backward()
            optimizer.step()
    ```

    ## Use instead
    ```python
    import numpy as np
    import torch

    def train(model, optimizer, names):
        for name in names:
            target = torch.from_numpy(np.loadtxt(name)).to("cuda", torch.float32)
            loss = (model(name) - target).pow(2).mean()
            loss.backward()
            optimizer.step()
    ```

    ## Fix safety
    The transfer casts to float32 as well; where the call moves all entries of a container, one by one, the tensor is
    cast where its data comes into torch, because other entries may be integers. Unsafe: the numbers become less
    precise. Where the array is an argument, others may bring integers the same way, and the fix is only shown. There is
    none where float64 was written out, nor for modules.

    ## How it is confirmed at run time
    The recorder notes the dtype and the bytes of every transfer.

    ## Known limits
    A target device that only the caller knows is not reported, nor is a single number, which leaves the dtype of what
    it meets as it is, nor what the code around only casts or compares. What an unknown function does with the tensor is
    not known, so that such a transfer is an information.
    """

    code = "DEV303"
    fixable = True
    name = "float64-on-accelerator"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._dtypes: dict[Place, set[str]] = defaultdict(set)
        self._uploads: dict[Place, tuple[Transfer, TransferPath]] = {}
        self._work: dict[Place, Float64Work] = {}

    def check(self, event: Transfer | Float64Work) -> Iterator[Finding]:
        """Yield a finding for a transfer of a float64 tensor to an accelerator that does not cast it.

        Whether the program computes with the tensor there is noted; `final_findings` tells.
        """
        if isinstance(event, Float64Work):
            if is_implicit(event.operand.tensor.dtype) and _runs_in_steps(event.context):
                self._work.setdefault(event.moved.place, event)
            return
        dtypes = self._dtypes[event.context.place]
        if event.dtype_before.name is not None:
            dtypes.add(event.dtype_before.name)
        if not event.moves or event.dtype_before.name != "float64" or event.dtype_after.name != "float64":
            return
        uploads = [path for path in transfer_paths(event) if path.uploads]
        if not uploads:
            return
        refused = next((path for path in uploads if str(path.after.device).startswith("mps")), None)
        if refused is not None:
            yield _finding(event, dtypes, refused, _refusal_text(event, refused), Severity.ERROR)
        elif not event.cast_at_once and event.rank is not Rank.ZERO:
            path = uploads[0]
            self._uploads.setdefault(event.context.place, (event, path))
            yield _finding(event, dtypes, path, _upload_text(event, path), Severity.INFO)

    def final_findings(self) -> Iterator[Finding]:
        """Yield the findings for the transfers after which the program computes in float64 on the accelerator."""
        for place, (event, path) in self._uploads.items():
            work = self._work.get(place)
            if work is not None and not event.few_elements and is_implicit(event.dtype_before):
                yield _finding(event, self._dtypes[place], path, _work_text(event, path, work))


def _finding(
    event: Transfer, dtypes: set[str], path: TransferPath, message: str, severity: Severity | None = None
) -> Finding:
    """Return the finding for a transfer; `severity` is None for that of the rule.

    `dtypes` are those of all tensors that the same call moves, complete when the fix is made.
    """
    conversion = conversion_step(event.dtype_before)
    place = event.context.place
    return Finding(
        place,
        message,
        steps_elsewhere(dtype_steps((f"`{place_text(event.receiver)}`", event.dtype_before)), place),
        _advice(event, dtypes, conversion),
        assumptions(event, path.before, event.dtype_before),
        severity,
        subject=conversion.place if conversion is not None else place,
        make_fix=partial(_fix, event, dtypes, conversion),
    )


def _advice(event: Transfer, dtypes: set[str], conversion: Step | None) -> str:
    """Return the advice to cast the tensor in the transfer, or where it comes into torch if the call moves others."""
    if not _moves_other_dtypes(event, dtypes):
        cast = text_with_suffix(event.receiver, ".float()", MAX_SUGGESTION_LENGTH)
        return f"cast it before the transfer, or with it: `{cast}`"
    return conversion_suggestion(conversion, "float32") if conversion is not None else "cast it where it is made"


def _fix(event: Transfer, dtypes: set[str], conversion: Step | None, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV303: cast to float32 in the transfer, or where the data comes into torch.

    The fix is only displayed, and not applied, when callers of the function choose the tensor's dtype.
    """
    if event.is_module or not is_implicit(event.dtype_before):
        raise NoFix
    if _moves_other_dtypes(event, dtypes):
        if conversion is None:
            raise NoFix
        return cast_where_data_enters(context, conversion, event.dtype_before, "float32")
    region, call = context.region_at(event.context.place), node_at(event.context.place)
    foreign = comes_from_parameter(region, call) and not is_decided_in_scope(event.context.scope, event.dtype_before)
    return cast_with_transfer(region, call, "float32", Applicability.DISPLAY if foreign else Applicability.UNSAFE)


def _moves_other_dtypes(event: Transfer, dtypes: set[str]) -> bool:
    """Return whether the call moves, or may move, tensors of other dtypes too, which a cast there would change."""
    return len(dtypes) > 1 or event.is_of_entries


def _subject(event: Transfer) -> str:
    """Return what is moved, for the beginning of a message."""
    receiver = f"`{place_text(event.receiver)}`"
    held = "parameters" if event.parameter else "buffers"
    return f"the float64 {held} of {receiver}" if event.is_module else f"the float64 tensor {receiver}"


def _refusal_text(event: Transfer, path: TransferPath) -> str:
    """Return the message of a finding on a transfer to mps."""
    return f"{_subject(event)} cannot go to mps, which has no float64{condition_text(path.when)}"


def _upload_text(event: Transfer, path: TransferPath) -> str:
    """Return the message of a finding on a transfer after which no computation is seen."""
    return f"{_subject(event)} goes to {path.after.device}, where float64 is slow{condition_text(path.when)}"


def _work_text(event: Transfer, path: TransferPath, work: Float64Work) -> str:
    """Return the message of a finding on a transfer after which the program computes in float64."""
    done = place_text(work.context.place)
    return (
        f"{_subject(event)} goes to {path.after.device}, where `{done}` computes in float64, which is slow there"
        f"{condition_text(path.when)}"
    )


def _runs_in_steps(context: EventContext) -> bool:
    """Return whether code runs in the steps of a training, or in a function that is called for each batch.

    Other loops, and the top level of a script, hardly ever compute so much in float64 that it shows.
    """
    return isinstance(context.repeater, Scope) or context.in_training_step
