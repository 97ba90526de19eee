"""Rule DEV402, which reports a loop that transfers the same tensor to the same device in every iteration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.path_conditions import Conjunction, Literal
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import place_text
from devlint.explain.transfer_paths import transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_hoisting import hoist_transfer
from devlint.interpreter.state.events import Transfer
from devlint.rule import Finding, Rule


class LoopInvariantTransfer(Rule):
    """The same tensor is transferred to the same device in every iteration of a loop.

    ## What it does
    Finds transfers from the host in a loop whose tensor and whose target are the same in each iteration.

    ## Why is this bad?
    Each iteration copies the same bytes again. A transfer that names nothing the loop changes can stand before the
    loop.

    ## Example
    ```python
    import torch

    weights = torch.rand(1000, 1000)
    for batch in torch.rand(10, 5, 1000, device="cuda"):
        print(batch @ weights.to("cuda"))
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.rand(1000, 1000).to("cuda")
    for batch in torch.rand(10, 5, 1000, device="cuda"):
        print(batch @ weights)
    ```

    ## Fix safety
    The transfer is made before the outermost loop in which neither tensor nor device changes, under a name of its own
    if it has none. Unsafe: it is then made also where the loop never runs. There is no fix where the loop makes it
    under a condition, or writes to what was moved.

    ## How it is confirmed at run time
    The recorder counts the transfers of each line and the bytes they moved.

    ## Known limits
    A tensor that the loop changes in place is another value each time, and a module that has moved once stays where
    it is; neither is reported, nor are transfers whose receiver is a call.
    """

    code = "DEV402"
    name = "loop-invariant-transfer"
    fixable = True
    severity = Severity.WARNING
    everywhere = True

    def check(self, event: Transfer) -> Iterator[Finding]:
        """Yield a finding for a transfer that moves the same tensor from the host in every iteration of a loop."""
        loop = event.context.loop
        if loop is None or not event.invariant or event.is_module or event.parameter or not event.moves:
            return
        if not all(map(_holds_throughout, event.context.path_condition - loop.path_condition)):
            return
        path = next((path for path in transfer_paths(event) if path.leaves_host), None)
        if path is None:
            return
        receiver, target = place_text(event.receiver), device_text(path.after)
        yield Finding(
            event.context.place,
            f"`{receiver}` is moved from the host to {target} again in every iteration{condition_text(path.when)}",
            placement_steps(path.before),
            f"move `{receiver}` once, before the loop",
            assumptions(event, path.before, path.after),
            make_fix=partial(_fix, event),
        )


def _fix(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV402: move the transfer before the loop."""
    return hoist_transfer(context.region_at(event.context.place), node_at(event.context.place))


def _holds_throughout(test: Literal) -> bool:
    """Return whether a condition in a loop has the same result in each iteration.

    That is known of a test for a device's availability and of a test of an option.
    """
    formula = test.formula
    if isinstance(formula, Conjunction):
        return all(map(_holds_throughout, formula.tests))
    return isinstance(formula.key, tuple) and formula.key[0] in ("available", "true")
