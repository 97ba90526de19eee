"""Rule DEV117, which reports that NumPy reads a tensor on the host that requires grad, or is bfloat16."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import is_accelerator
from devlint.domain.placement import Assumption, placement_cases
from devlint.explain.host_read_texts import REDUCTIONS, array_suggestion, host_copy_calls, reader_text
from devlint.explain.place_texts import place_text, text_with_suffix
from devlint.fixes.fix_context import FixContext
from devlint.fixes.host_copies import insert_host_copy
from devlint.interpreter.state.events import HostRead
from devlint.rule import Finding, Rule


class NumpyRequiresGrad(Rule):
    """NumPy is asked to read a tensor that requires grad, or that is bfloat16.

    ## What it does
    Reports `.numpy()`, NumPy functions and whatever else reads an array's memory when the tensor is a parameter or
    was computed from one, or when its dtype is bfloat16.

    ## Why is this bad?
    NumPy cannot record for autograd, so PyTorch refuses: `RuntimeError: Can't call numpy() on Tensor that requires
    grad. Use tensor.detach().numpy() instead`. It does so on every device; where autograd does not record, under
    `no_grad`, it allows the read.

    NumPy has no bfloat16: `TypeError: Got unsupported ScalarType BFloat16`. A cast by `.float()` keeps every value.

    ## Example
    ```python
    import torch
    from torch import nn

    layer = nn.Linear(4, 2)
    weights = layer.weight.cpu().numpy()
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    layer = nn.Linear(4, 2)
    weights = layer.weight.detach().cpu().numpy()
    ```

    ## Fix safety
    `.detach()` is put before the read. That is safe for `.numpy()`, which raises without it; it is unsafe where a
    function of NumPy's or of another library reads, which may be given arrays as well. `.float()` is put there for a
    bfloat16 tensor in the same way.

    ## How it is confirmed at run time
    The reported line raises `RuntimeError: Can't call numpy() on Tensor that requires grad`, or `TypeError: Got
    unsupported ScalarType BFloat16`.

    ## Known limits
    A tensor that also lies on an accelerator is reported as DEV106 alone: that is the first error PyTorch raises.
    """

    code = "DEV117"
    fixable = True
    name = "numpy-requires-grad"
    severity = Severity.ERROR

    def check(self, event: HostRead) -> Iterator[Finding]:
        """Yield a finding when NumPy reads a tensor that requires grad.

        Rule DEV106 reports such a tensor on an accelerator.
        """
        tracked = event.grad_enabled and event.tensor.grad is True
        refused = event.tensor.dtype.name == "bfloat16" and event.reader not in REDUCTIONS
        if not event.needs_no_grad or not (tracked or refused):
            return
        found = [leaf for _, leaf in placement_cases(event.tensor.placement, event.context.path_condition)]
        if any(is_accelerator(leaf.device) for leaf in found):
            return
        text, calls = place_text(event.operand), host_copy_calls(event, ".detach()" * tracked + ".float()" * refused)
        readable = text_with_suffix(event.operand, calls)
        if tracked:
            message = f"`{text}` requires grad, and {reader_text(event)} cannot read a tensor that autograd tracks"
            suggestion = f"take it out of autograd first: `{readable}`"
        else:
            message = f"`{text}` is bfloat16, and {reader_text(event)} cannot read it: NumPy has no such dtype"
            suggestion = f"cast it first: `{readable}`"
        yield Finding(
            event.context.place,
            message,
            help=array_suggestion(event) or suggestion,
            assumptions=_assumed(event) if tracked else (),
            make_fix=partial(_fix, event, calls) if event.array is None else None,
        )


def _assumed(event: HostRead) -> tuple[Assumption, ...]:
    """Return what a finding takes for granted: that an unknown caller records gradients, for what is computed.

    Code that trains records them itself.
    """
    if not event.context.symbolic or event.tensor.leaf or event.context.in_training:
        return ()
    name = event.context.scope.name.rpartition(".")[2]
    return (Assumption(AssumptionKind.RECORDED, f"whoever calls `{name}` records gradients", event.context.place),)


def _fix(event: HostRead, calls: str, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV117: detach or cast the tensor before NumPy reads it."""
    return insert_host_copy(context, event, calls)
