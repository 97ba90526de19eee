"""Rule DEV108, which reports an accelerator tensor passed for an argument that must be on the host."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import host_read_cause
from devlint.explain.conflict_texts import operand_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import operation_text, place_text, text_with_suffix
from devlint.fixes.edits import append_call
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import HostOnlyOperand
from devlint.rule import Finding, Rule


class HostOnlyArgument(Rule):
    """An accelerator tensor stands where only a host tensor is accepted.

    ## What it does
    Reports arguments that PyTorch reads on the host whatever the other arguments are: the lengths of
    `pack_padded_sequence`, the split points of `tensor_split`, and their like.

    ## Why is this bad?
    The call raises `RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor`. It often appears when a
    whole batch is moved at once and the lengths travel with it.

    ## Example
    ```python
    import torch
    from torch.nn.utils.rnn import pack_padded_sequence

    batch = torch.rand(4, 10, 8, device="cuda")
    lengths = torch.tensor([10, 9, 4, 2], device="cuda")
    packed = pack_padded_sequence(batch, lengths, batch_first=True)
    ```

    ## Use instead
    ```python
    import torch
    from torch.nn.utils.rnn import pack_padded_sequence

    batch = torch.rand(4, 10, 8, device="cuda")
    lengths = torch.tensor([10, 9, 4, 2])
    packed = pack_padded_sequence(batch, lengths, batch_first=True)
    ```

    ## Fix safety
    `.cpu()` is put behind the argument: it returns a host tensor as it is, and without it the call raises. Safe.

    ## How it is confirmed at run time
    The reported line raises PyTorch's error that names the argument.

    ## Known limits
    Only arguments that the table of operator semantics knows to be host-only are judged.
    """

    code = "DEV108"
    fixable = True
    name = "host-only-argument"
    severity = Severity.ERROR

    def check(self, event: HostOnlyOperand) -> Iterator[Finding]:
        """Yield a finding for an accelerator tensor that is passed for an argument that must be on the host."""
        operand = event.operand
        text = place_text(operand.place)
        yield Finding(
            event.context.place,
            f"`{text}` is on {device_text(operand.case)}{condition_text(event.when)},"
            f" but {operation_text(event.operation)} takes its `{operand.name}` on the host only",
            trace=operand_steps(operand),
            help=f"pass it from the host: `{text_with_suffix(operand.place, '.cpu()')}`",
            assumptions=assumptions(event, operand.case),
            cause=host_read_cause(event.context, operand.place, operand.case.placing_step),
            make_fix=partial(_fix, event),
        )


def _fix(event: HostOnlyOperand, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV108: pass a host copy of the argument, made by `.cpu()`."""
    if event.operand.inside:
        raise NoFix
    region, node = context.region_at(event.operand.place), node_at(event.operand.place)
    return Fix("Pass the tensor with `.cpu()`", Applicability.SAFE, append_call(region, node, ".cpu()"))
