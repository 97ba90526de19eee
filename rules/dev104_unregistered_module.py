"""Rule DEV104, which reports modules or parameters in a plain container: `.to()` of their owner does not move them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import conflict_location_text, conflict_steps
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import dotted_name_at, operand_text, place_text
from devlint.fixes.buffer_registration import wrap_container
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.state.events import PlainContainerConflict
from devlint.rule import Finding, Rule


class UnregisteredModule(Rule):
    """Modules or parameters in a plain list, tuple or dict stay behind when their owner moves.

    ## What it does
    Reports an attribute of an `nn.Module` that holds modules or parameters in a plain list, tuple or dict, when one
    of them is used on tensors that lie elsewhere.

    ## Why is this bad?
    Only what is registered is moved by `.to()`, saved in the `state_dict` and listed by `parameters()`. Modules in
    a plain container stay on the host, so calling them raises `RuntimeError: Expected all tensors to be on the same
    device`; and on the host, where they do work, the optimizer never trains them.

    ## Example
    ```python
    import torch
    from torch import nn


    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = [nn.Linear(8, 2), nn.Linear(8, 3)]

        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [head(x) for head in self.heads]
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn


    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads = nn.ModuleList([nn.Linear(8, 2), nn.Linear(8, 3)])

        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            return [head(x) for head in self.heads]
    ```

    ## Fix safety
    The container becomes its counterpart in `torch.nn`, where the class asks nothing of it that the counterpart cannot
    do. It is unsafe: the `state_dict` gains keys, and an optimizer built from `parameters()` trains what it did not.

    ## How it is confirmed at run time
    The call that ends the reported story raises PyTorch's device error when the owner has been moved.

    ## Known limits
    Modules that are also registered by other means (`add_module`, a second `nn.ModuleList`) move, and nothing is
    said; nor of modules whose parameters are registered (`nn.ParameterList(block.parameters())`), although their
    buffers stay. A container whose modules meet nothing is not reported.
    """

    code = "DEV104"
    fixable = True
    name = "unregistered-module"
    severity = Severity.ERROR

    def check(self, event: PlainContainerConflict) -> Iterator[Finding]:
        """Yield a finding for a plain container whose modules or parameters are used with a tensor on another device.

        The finding is at the assignment of the container, so that there is one finding for each assignment.
        """
        place = event.kept.place
        noun = f"`{place_text(place)}`" if dotted_name_at(place) is not None else "the attribute"
        kept, other = event.misplaced, event.reference
        content = event.kept.message.partition(" ")[0]
        yield Finding(
            place,
            f"{noun} is a plain container, so `.to()` leaves the {content} in it on {device_text(kept.case)}:"
            f" they cannot be combined with {operand_text(other)} on {device_text(other.case)}"
            f" {conflict_location_text(event)}",
            trace=conflict_steps(event, place),
            help=_HELP[content],
            assumptions=conflict_assumptions(event),
            make_fix=partial(_fix, event, "Module" if content == "modules" else "Parameter"),
        )


def _fix(event: PlainContainerConflict, kind: str, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV104: replace the plain container by a container of `torch.nn`.

    `kind` is what the container holds: `Module` or `Parameter`.
    """
    target = event.kept.place.node
    if not isinstance(target, cst.CSTNode):
        raise NoFix
    return wrap_container(context.region_at(event.kept.place), target, kind)


_HELP = {
    "modules": "keep them in an `nn.ModuleList`, or an `nn.ModuleDict` for a dict",
    "parameters": "keep them in an `nn.ParameterList`, or an `nn.ParameterDict` for a dict",
}
"""The advice by the content of the plain container."""
