"""Rule DEV103, which reports a plain tensor attribute of a module: `.to()` of the module does not move it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place, StepKind
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import conflict_location_text, conflict_steps
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import dotted_name_at, operand_text, place_text
from devlint.explain.suggestions import assigned_text
from devlint.fixes.buffer_registration import register_buffer
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.fixes.operand_placement import move_misplaced_at_use
from devlint.interpreter.state.events import PlainAttributeConflict
from devlint.rule import Finding, Rule


class UnregisteredTensor(Rule):
    """A plain tensor attribute of a module stays behind when the module moves.

    ## What it does
    Reports a tensor that is assigned to an attribute of an `nn.Module` without being registered as a buffer or a
    parameter, and that later meets the module's inputs or parameters.

    ## Why is this bad?
    `.to()`, `.cuda()` and `.half()` move what is registered. A plain attribute stays where it was made, so the
    module works until somebody moves it and then raises `RuntimeError: Expected all tensors to be on the same
    device`. A plain attribute is also missing from the `state_dict` and unknown to `DataParallel`.

    ## Example
    ```python
    import torch
    from torch import nn


    class Positions(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.table = torch.zeros(512, size)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table[: x.size(1)]
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn


    class Positions(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.register_buffer("table", torch.zeros(512, size), persistent=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table[: x.size(1)]
    ```

    ## Fix safety
    The attribute becomes a buffer with `persistent=False`, so that checkpoints keep their layout; leave that out where
    the tensor belongs in them. It is unsafe: from then on the tensor is moved and cast with the module. There is no
    fix where `__init__` does not assign the attribute, or where the tensor is to be trained. A tensor in a list or a
    dict is moved where it is used, which is unsafe as well.

    ## How it is confirmed at run time
    The operation that ends the reported story raises PyTorch's device error when the module has been moved.

    ## Known limits
    A class that overrides `_apply` or `to` is taken to move its attributes itself. An attribute that meets nothing
    is not reported, nor one that the code looks at to decide whether it still serves: that is a cache.
    """

    code = "DEV103"
    fixable = True
    name = "unregistered-tensor"
    severity = Severity.ERROR

    def check(self, event: PlainAttributeConflict) -> Iterator[Finding]:
        """Yield a finding for a plain tensor attribute of a module that an operation uses with a tensor elsewhere.

        Elsewhere means on another device. The finding is at the assignment of the attribute, so that there is one
        finding for each assignment.
        """
        place = event.stored.place
        name = dotted_name_at(place)
        if name is not None and any(re.search(rf"\b{re.escape(name)}\b", str(test)) for test in event.when):
            return
        noun = f"`{place_text(place)}`" if name is not None else "the attribute"
        where, other = device_text(event.misplaced.case), event.reference
        inside = event.stored.kind is StepKind.STORED_INSIDE
        yield Finding(
            place,
            f"{noun} {'holds' if inside else 'is'} a plain tensor, so `.to()` leaves it on {where}:"
            f" it cannot be combined with {operand_text(other)} on {device_text(other.case)}"
            f" {conflict_location_text(event)}",
            trace=conflict_steps(event, place),
            help=_help(place, name, inside=inside),
            assumptions=conflict_assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: PlainAttributeConflict, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV103: register the attribute as a buffer.

    If the attribute is a container, its tensors are moved where they are used instead.
    """
    target = event.stored.place.node
    if not isinstance(target, cst.CSTNode):
        raise NoFix
    if event.stored.kind is StepKind.STORED_INSIDE:
        return move_misplaced_at_use(context, event)
    return register_buffer(context.region_at(event.stored.place), target)


def _help(place: Place, name: str | None, *, inside: bool) -> str:
    """Return the advice for a finding of DEV103: register the attribute as a buffer.

    `place` is where it is assigned, `name` the attribute, such as `self.pe`, if known. `inside` tells that it is a
    container of tensors; the advice is then to register each tensor, or to move it where it is used.
    """
    owner, _, attribute = (name or "self.name").rpartition(".")
    if inside:
        return "register each of its tensors as a buffer, or move them where they are used"
    call = f'{owner}.register_buffer("{attribute}", {assigned_text(place)}, persistent=False)'
    return f"register it, so that it moves with the module: `{call}`"
