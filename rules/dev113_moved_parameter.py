"""DEV113: a Parameter, or a leaf to be optimised, that a transfer turned into a plain result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Step, StepKind, history
from devlint.explain.place_texts import method_text
from devlint.fixes.autograd_leaves import make_leaf, make_parameter
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import MovedLeaf
from devlint.rule import Finding, Rule


class MovedParameter(Rule):
    """A parameter or leaf tensor is moved, and the result is used as if it still were one.

    ## What it does
    Reports `nn.Parameter(...).to(device)` that is kept as an attribute of a module, and a tensor made with
    `requires_grad=True` that is moved and then used as a leaf: given to an optimizer, asked for its `.grad`, or put in
    the place of the one that an optimizer has taken already.

    ## Why is this bad?
    A transfer of a tensor that requires grad is an operation that autograd records. Its result is not a leaf: the
    optimizer raises `ValueError: can't optimize a non-leaf Tensor`, `.grad` stays `None`, and a moved
    `nn.Parameter` is no longer a Parameter that the module registers. On a machine without an accelerator the
    transfer does nothing, and all is well.

    ## Example
    ```python
    import torch

    device = torch.device("cuda")
    image = torch.rand(3, 64, 64, requires_grad=True).to(device)
    optimizer = torch.optim.Adam([image])
    ```

    ## Use instead
    ```python
    import torch

    device = torch.device("cuda")
    image = torch.rand(3, 64, 64, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([image])
    ```

    ## Fix safety
    `nn.Parameter(t).to(device)` becomes `nn.Parameter(t.to(device))`; a factory is told where to make the leaf; any
    other transfer is followed by `.detach().requires_grad_()`. Unsafe: an optimizer then trains what it did not, and
    random numbers differ from device to device.

    ## How it is confirmed at run time
    The optimizer raises `can't optimize a non-leaf Tensor`, or the gradient is seen to be missing.

    ## Known limits
    A moved tensor that is used only in computations is no bug and is not reported.
    """

    code = "DEV113"
    fixable = True
    name = "moved-parameter"
    severity = Severity.ERROR

    def check(self, event: MovedLeaf) -> Iterator[Finding]:
        """Report a transfer of a leaf tensor whose result is used as a leaf, once for each transfer."""
        place = event.moved.place
        steps = tuple(reversed(list(history(event.moved))))
        use = Step(StepKind.PASSED, event.use, event.context.place)
        yield Finding(
            place,
            f"`{method_text(place)}` makes a new tensor that is {_lost_property(event)}, yet {event.use}",
            trace=(*steps, use) if use.place != place else steps,
            help=_help(event),
            make_fix=None if event.replaces else partial(_fix, event),
        )


def _fix(event: MovedLeaf, context: FixContext) -> Fix:
    """Return the fix that makes the moved tensor a parameter or a leaf again."""
    region, call = context.region_at(event.moved.place), node_at(event.moved.place)
    return make_parameter(region, call) if event.parameter else make_leaf(region, call)


def _lost_property(event: MovedLeaf) -> str:
    """Return the phrase for the property that the transfer's result lacks."""
    return "no longer a Parameter" if event.parameter else "not a leaf"


def _help(event: MovedLeaf) -> str:
    """Return the advice for a parameter, for a leaf that an optimizer trains, or for any other leaf."""
    if event.parameter:
        return (
            "move the tensor inside: `nn.Parameter(tensor.to(device))`, or leave the move to the module's own `.to()`"
        )
    if event.replaces:
        return (
            "move it before the optimizer is built, or copy the values in place: `tensor.data = tensor.data.to(device)`"
        )
    return "create it where it is used, `device=...`, or call `.requires_grad_()` after the move"
