"""Fixes that move what several elements are put together to, and not each element."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.call_edits import receiver_of, remove_method_call
from devlint.fixes.edits import append_call
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.syntax.tree_walk import descend, names_in_target

_WITHOUT_FIX: Final = "tensor"
"""The function that reads its elements as numbers, so that it does more than put tensors together."""


def move_when_joined(region: NodeRegion, transfer: cst.CSTNode) -> Fix:
    """Return a fix that moves a transfer of elements behind the call that puts them together.

    `torch.stack([x.to(device) for x in xs])` becomes `torch.stack([x for x in xs]).to(device)`. Raises NoFix where the
    transfer is not all of the element, or names what the comprehension binds.
    """
    comprehension = region.parent(transfer)
    if not isinstance(transfer, cst.Call) or not isinstance(comprehension, (cst.ListComp, cst.GeneratorExp)):
        raise NoFix
    call = next((one for one in region.ancestors(comprehension) if isinstance(one, cst.Call)), None)
    if call is None or not isinstance(call.func, cst.Attribute) or call.func.attr.value == _WITHOUT_FIX:
        raise NoFix
    bound = set(names_in_target(comprehension.for_in.target))
    named = {one.value for each in transfer.args for one in descend(each) if isinstance(one, cst.Name)}
    if named & bound or comprehension.for_in.inner_for_in is not None:
        raise NoFix
    removed = remove_method_call(region, transfer)
    end = region.span_with_parentheses(receiver_of(transfer))[1]
    suffix = region.context.text[end : region.span(transfer)[1]]
    return Fix(
        "Move the elements when they are put together",
        Applicability.UNSAFE,
        (removed, *append_call(region, call, suffix)),
    )
