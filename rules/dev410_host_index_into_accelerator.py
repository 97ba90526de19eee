"""Rule DEV410, which reports an index on the host into a tensor on an accelerator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Step, StepKind
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import operand_steps
from devlint.explain.costs import cost_severity, frequency_text
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import callee_text, dotted_name_at, is_within, place_text
from devlint.explain.steps import told_of
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.fixes.operand_placement import FACTORIES_WITHOUT_DEVICE, create_on_device
from devlint.interpreter.state.events import HostIndex
from devlint.rule import Finding, Rule


class HostIndexIntoAccelerator(Rule):
    """A tensor on an accelerator is indexed by a list, an array, or a tensor or mask of the host.

    ## What it does
    Finds indices on the host that select several elements of an accelerator tensor: tensors, masks, NumPy arrays and
    lists of numbers. Where the code runs once, that is only an information.

    ## Why is this bad?
    It is legal, but torch first copies the index to the accelerator, and the host waits for that copy.

    ## Example
    ```python
    import torch

    def batches(steps: int):
        data = torch.rand(10_000, 64, device="cuda")
        for _ in range(steps):
            yield data[torch.randperm(10_000)[:32]]
    ```

    ## Use instead
    ```python
    import torch

    def batches(steps: int):
        data = torch.rand(10_000, 64, device="cuda")
        for _ in range(steps):
            yield data[torch.randperm(10_000, device="cuda")[:32]]
    ```

    ## Fix safety
    A factory call in the subscript is given the device of the tensor. Safe where its values are the same on every
    device; unsafe for random numbers, which are others there. There is no fix for an index made elsewhere.

    ## How it is confirmed at run time
    The recorder counts for each line how often the host waited, and for what.

    ## Known limits
    A number, a slice, and a tensor that may be 0-dim are not reported; an accelerator's index into a host tensor is
    DEV107, an error. Fewer copies are not always faster: a short list may be cheaper than what computes it elsewhere.
    """

    code = "DEV410"
    name = "host-index-into-accelerator"
    severity = Severity.WARNING
    default = False
    fixable = True

    def check(self, event: HostIndex) -> Iterator[Finding]:
        """Yield a finding for an index on the host into a tensor on an accelerator."""
        context = event.context
        yield Finding(
            context.place,
            f"the {event.kind} `{place_text(event.index)}` on the host is copied to {device_text(event.base.case)} to"
            f" index `{place_text(event.base.place)}`{frequency_text(context)}",
            (*operand_steps(event.base), *_steps(event)),
            _help(event),
            assumptions(event, event.base.case),
            cost_severity(context),
            make_fix=partial(_fix, event),
        )


def _steps(event: HostIndex) -> tuple[Step, ...]:
    """Return the step that created the index, where it is not told by the subscript itself."""
    created = event.created
    if created is None or is_within(created.place, event.index):
        return ()
    return (told_of(f"`{place_text(event.index)}`", created),)


def _help(event: HostIndex) -> str:
    """Return the advice for an index on the host: make it where the tensor is, or move it where it stays the same."""
    base, index, created = place_text(event.base.place), place_text(event.index), event.created
    if created is None and event.kind in ("list", "array"):
        return f"make a tensor of it once, where it stays the same: `torch.as_tensor({index}, device={base}.device)`"
    if (
        created is not None
        and created.kind is StepKind.CREATED
        and created.scope is event.context.scope
        and callee_text(created.place).rpartition(".")[2] not in FACTORIES_WITHOUT_DEVICE
    ):
        return f"make it where `{base}` is: pass `device={base}.device` to `{callee_text(created.place)}`"
    return f"make it where `{base}` is, or move it once where it stays the same: `{index}.to({base}.device)`"


def _fix(event: HostIndex, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV410: create the index on the device of the tensor that it selects from.

    Raises NoFix for an index that the subscript does not create itself, and for a tensor without a name.
    """
    owner = dotted_name_at(event.base.place)
    if event.created is None or owner is None or not is_within(event.created.place, event.index):
        raise NoFix
    return create_on_device(context, event.created, f"{owner}.device", event.index)
