"""Rule DEV402, which reports a loop that transfers the same tensor to the same device in every iteration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import DeviceSymbol, is_accelerator
from devlint.domain.path_conditions import Conjunction, Literal
from devlint.domain.placement import Assumption, Basis, Placement, PlacementCase, placement_cases
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import cost_severity, extent_text
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import place_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_hoisting import hoist_transfer
from devlint.interpreter.state.events import RepeatedTransfer, Transfer
from devlint.rule import Finding, Rule


class LoopInvariantTransfer(Rule):
    """The same tensor is transferred to the same device in every iteration of a loop.

    ## What it does
    Finds transfers from the host in a loop whose tensor and whose target are the same in each iteration. A tensor of
    unknown origin counts if the program names the accelerator to which it moves it. Loops that run once in a program,
    in a test or a set-up, and tensors of few elements, are only an information.

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

    def check(self, event: Transfer | RepeatedTransfer) -> Iterator[Finding]:
        """Yield a finding for a transfer that moves the same tensor in every iteration of a loop."""
        loop = event.context.loop
        if loop is None or not all(map(_holds_throughout, event.context.path_condition - loop.path_condition)):
            return
        if isinstance(event, RepeatedTransfer):
            yield from self._of_unknown_origin(event, event.after)
            return
        if not event.invariant or event.is_module or event.parameter or not event.moves:
            return
        path = next((path for path in transfer_paths(event) if path.leaves_host), None)
        if path is not None:
            yield self._finding(event, "from the host ", path.after, path.before)
        elif all(map(_is_callers, transfer_paths(event))):
            yield from self._of_unknown_origin(event, event.after)

    def _of_unknown_origin(self, event: Transfer | RepeatedTransfer, after: Placement) -> Iterator[Finding]:
        """Yield a finding for the transfer of a tensor of unknown origin, if it goes to an accelerator.

        The program would not move it there if it were there already. A module's input may well be there.
        """
        if event.context.scope.method_of_module:
            return
        for _, leaf in placement_cases(after, event.context.path_condition):
            if is_accelerator(leaf.device):
                yield self._finding(event, "", leaf)
                return

    def _finding(
        self,
        event: Transfer | RepeatedTransfer,
        origin: str,
        after: PlacementCase,
        before: PlacementCase | None = None,
    ) -> Finding:
        """Return the finding for a transfer; `before` is where the tensor is before, if that is known."""
        receiver = place_text(event.receiver)
        size = ""
        if isinstance(event, Transfer) and event.fresh is not None:
            size = extent_text(event.fresh.extent, event.dtype_before)
        unknown = Assumption(AssumptionKind.TENSOR, f"`{receiver}` is a tensor on another device", event.receiver)
        return Finding(
            event.context.place,
            f"`{receiver}` is moved {origin}to {device_text(after)} again in every iteration{size}",
            placement_steps((f"`{receiver}`", before)) if before is not None else (),
            f"move `{receiver}` once, before the loop",
            assumptions(event, before, after) if before is not None else (unknown,),
            cost_severity(event.context, little=isinstance(event, Transfer) and event.few_elements),
            make_fix=partial(_fix, event),
        )


def _is_callers(path: TransferPath) -> bool:
    """Return whether the caller has chosen on which device a tensor is before its transfer."""
    return isinstance(path.before.device, DeviceSymbol) and path.before.basis is Basis.CALLER


def _fix(event: Transfer | RepeatedTransfer, context: FixContext) -> Fix:
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
