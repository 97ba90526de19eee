"""Rule DEV106, which reports that NumPy reads a tensor on an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.device import is_accelerator
from devlint.domain.placement import placement_cases
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import host_read_cause
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.host_read_texts import array_suggestion, host_copy_calls, reader_text
from devlint.explain.place_texts import place_text, text_with_suffix
from devlint.fixes.fix_context import FixContext
from devlint.fixes.host_copies import insert_host_copy
from devlint.interpreter.state.events import HostRead
from devlint.rule import Finding, Rule


class NumpyFromAccelerator(Rule):
    """NumPy is asked to read a tensor that lies on an accelerator.

    ## What it does
    Reports `.numpy()`, NumPy functions and whatever else reads an array's memory (`np.array([...])`, plotting,
    scikit-learn) when the tensor lies on an accelerator, or where the program has moved it to a device that the caller
    of the function chooses. An argument of the function is reported too if the function has put another tensor on the
    argument's device, and so allows an accelerator.

    ## Why is this bad?
    NumPy sees host memory only. PyTorch does not copy by itself and raises `TypeError: can't convert cuda:0 device
    type tensor to numpy`.

    ## Example
    ```python
    import torch

    scores = torch.rand(8, device="cuda")
    print(scores.numpy().max())
    ```

    ## Use instead
    ```python
    import torch

    scores = torch.rand(8, device="cuda")
    print(scores.cpu().numpy().max())
    ```

    ## Fix safety
    `.cpu()` is put before the read, and `.detach()` where autograd follows the tensor: both return a tensor on the host
    as it is. That is safe for `.numpy()` and other methods; it is unsafe where a function of NumPy's or of another
    library reads, which may be given arrays as well.

    ## How it is confirmed at run time
    The reported line raises `TypeError: can't convert cuda:0 device type tensor to numpy`.

    ## Known limits
    A function that devlint does not know to read arrays is not reported.
    """

    code = "DEV106"
    fixable = True
    name = "numpy-from-accelerator"
    severity = Severity.ERROR

    def check(self, event: HostRead) -> Iterator[Finding]:
        """Yield a finding when NumPy reads a tensor that is on an accelerator, always or under some condition."""
        if not event.needs_host:
            return
        cases = placement_cases(event.tensor.placement, event.context.path_condition)
        found = next((one for one in cases if is_accelerator(one[1].device)), event.chosen)
        if found is not None:
            when, leaf = found
            text = place_text(event.operand)
            suggestion = text_with_suffix(event.operand, _calls(event))
            yield Finding(
                event.context.place,
                f"`{text}` is on {device_text(leaf)}{condition_text(when)},"
                f" but {reader_text(event)} reads host memory only",
                trace=placement_steps((f"`{text}`", leaf)),
                help=array_suggestion(event) or f"copy it to the host first: `{suggestion}`",
                assumptions=assumptions(event, leaf, when=when),
                cause=host_read_cause(event.context, event.operand, leaf.placing_step),
                make_fix=partial(_fix, event) if event.array is None else None,
            )


def _fix(event: HostRead, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV106: copy the tensor to the host, and detach it if it requires grad."""
    return insert_host_copy(context, event, _calls(event))


def _calls(event: HostRead) -> str:
    """Return the calls that the tensor needs before the host reads it."""
    return host_copy_calls(event, ".detach().cpu()" if event.tensor.grad else ".cpu()")
