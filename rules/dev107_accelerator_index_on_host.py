"""Rule DEV107, which reports a host tensor that is indexed by an accelerator tensor."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.placement import Place
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.causes import conflict_cause
from devlint.explain.conflict_texts import conflict_steps, conflict_subject
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import operand_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.fixes.edits import append_call
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.fixes.operand_placement import insert_transfer, is_moved_by_chain
from devlint.fixes.tensor_device_text import device_at_conflict
from devlint.interpreter.state.events import IndexConflict
from devlint.rule import Finding, Rule


class AcceleratorIndexOnHost(Rule):
    """A host tensor is indexed by a tensor on an accelerator.

    ## What it does
    Reports `tensor[index]` and operations such as `gather` and `index_select` when the tensor lies on the host and
    the index or mask on an accelerator.

    ## Why is this bad?
    A host tensor takes only host indices: `RuntimeError: indices should be either on cpu or on the same device as
    the indexed tensor (cpu)`. The other way round is legal, which is why the mistake is easily made.

    ## Example
    ```python
    import torch

    schedule = torch.linspace(0, 1, 1000)
    steps = torch.randint(0, 1000, (16,), device="cuda")
    weights = schedule[steps]
    ```

    ## Use instead
    ```python
    import torch

    schedule = torch.linspace(0, 1, 1000, device="cuda")
    steps = torch.randint(0, 1000, (16,), device="cuda")
    weights = schedule[steps]
    ```

    ## Fix safety
    The tensor is moved to where its index is; where it is written to, or what was taken out is moved next, the index
    is copied to the host instead. Both are unsafe: it is a guess on which device the result is wanted.

    ## How it is confirmed at run time
    The reported line raises PyTorch's error about the device of the indices.

    ## Known limits
    A host index into an accelerator tensor is legal but waits for the accelerator; DEV410 speaks of that.
    """

    code = "DEV107"
    fixable = True
    name = "accelerator-index-on-host"
    severity = Severity.ERROR

    def check(self, event: IndexConflict) -> Iterator[Finding]:
        """Yield a finding for a host tensor that is indexed by a tensor on another device."""
        table, index = event.misplaced, event.reference
        yield Finding(
            event.context.place,
            f"{operand_text(table)} is on {device_text(table.case)} but its index {operand_text(index)}"
            f" is on {device_text(index.case)}{condition_text(event.when)}: a host tensor takes only host indices",
            trace=conflict_steps(event, event.context.place),
            help=_help(table.place, index.place),
            assumptions=conflict_assumptions(event),
            subject=conflict_subject(event),
            cause=conflict_cause(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: IndexConflict, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV107: move the indexed tensor to the index's device.

    If that is not possible, the fix moves the index to the host.
    """
    region, table = context.region_at(event.misplaced.place), node_at(event.misplaced.place)
    index = context.region_at(event.reference.place), node_at(event.reference.place)
    try:
        if is_moved_by_chain(region, event.context.place.node):
            raise NoFix
        message, edits = insert_transfer(region, table, f".to({device_at_conflict(event, event.reference)})")
    except NoFix:
        written = text_with_suffix(event.reference.place, ".cpu()", MAX_SUGGESTION_LENGTH)
        message, edits = f"Index with `{written}`", append_call(*index, ".cpu()")
    return Fix(message, Applicability.UNSAFE, edits)


def _help(table: Place, index: Place) -> str:
    """Return the advice for a finding of DEV107: move the indexed tensor to the index, or the index to the host."""
    moved = text_with_suffix(table, f".to({text_with_suffix(index, '.device')})", MAX_SUGGESTION_LENGTH)
    read = text_with_suffix(index, ".cpu()", MAX_SUGGESTION_LENGTH)
    return f"index on the host: `{read}`; or move the tensor to where its index is, once if it is large: `{moved}`"
