"""Rule DEV113, which reports a transfer of a Parameter or trained leaf tensor whose result is neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place, Step, StepKind, history, steps_elsewhere
from devlint.explain.conflict_texts import device_written
from devlint.explain.place_texts import call_text, method_text, place_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
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
        """Yield a finding for a transfer of a leaf tensor whose result is used as if it were a leaf.

        The finding is at the transfer, so that there is one finding for each transfer.
        """
        place = event.moved.place
        steps = tuple(reversed(list(history(event.moved))))
        use = Step(StepKind.PASSED, event.use, event.context.place)
        yield Finding(
            place,
            f"`{method_text(place)}` makes a new tensor that is {_lost_property(event)}, yet {event.use}"
            f"{': `parameters()` leaves it out' if event.parameter else ''}",
            trace=steps_elsewhere((*steps, use), place),
            help=_help(event),
            make_fix=None if event.replaces else partial(_fix, event),
        )


def _fix(event: MovedLeaf, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV113: make the result of the transfer a parameter or a leaf tensor again."""
    region, call = context.region_at(event.moved.place), node_at(event.moved.place)
    return make_parameter(region, call) if event.parameter else make_leaf(region, call)


def _lost_property(event: MovedLeaf) -> str:
    """Return a phrase for what the result of the transfer is not any more: a Parameter, or a leaf tensor."""
    return "no longer a Parameter" if event.parameter else "not a leaf"


def _help(event: MovedLeaf) -> str:
    """Return the advice for a finding of DEV113, which depends on the moved tensor.

    There is one advice for a parameter, one for a leaf tensor that an optimizer trains, and one for any other leaf
    tensor.
    """
    if event.parameter:
        return (
            f"move the tensor inside: `{_moved_inside(event.moved.place)}`, or leave the move to the module's `.to()`"
        )
    if event.replaces:
        return (
            "move it before the optimizer is built, or copy the values in place: `tensor.data = tensor.data.to(device)`"
        )
    device = device_written(event.moved.place)
    created = f"with `device={device}`" if device is not None else "on the device of its use"
    return f"create it {created}, or call `.requires_grad_()` after the move"


def _moved_inside(place: Place) -> str:
    """Return the source text of a parameter whose tensor is moved: `nn.Parameter(torch.ones(3).to(device))`."""
    match place.node:
        case cst.Call(func=cst.Attribute(value=cst.Call(func=made, args=[cst.Arg(keyword=None, value=tensor)]))):
            inside = text_with_suffix(replace(place, node=tensor), call_text(place), MAX_SUGGESTION_LENGTH)
            return f"{place_text(replace(place, node=made))}({inside})"
    return "nn.Parameter(tensor.to(device))"
