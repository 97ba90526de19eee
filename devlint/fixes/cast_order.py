"""Fixes that put a cast on the other side of the transfer beside it, or make it part of the transfer."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.call_edits import find_argument, method_name, receiver_of
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.transfer_targets import transfer_target


def swap_cast_and_transfer(
    region: NodeRegion, first: cst.BaseExpression, second: cst.BaseExpression, dtype: str
) -> Fix:
    """Return a fix for a cast and a transfer in a chain: `x.float().to(d)` becomes `x.to(d).float()`.

    A cast to `dtype` that follows `.to(device)` becomes an argument of it. Raises NoFix where the calls are no chain,
    or are not plain ones.
    """
    if not (isinstance(first, cst.Call) and isinstance(second, cst.Call)) or receiver_of(second) is not first:
        raise NoFix
    start, middle = region.span_with_parentheses(receiver_of(first))[1], region.span_with_parentheses(first)[1]
    end = region.span(second)[1]
    text = region.context.text
    if first.lpar or "#" in text[start:end]:
        raise NoFix
    if _waits_for_copy(region, first):
        name, imported = write_library_name(region, first, f"torch.{dtype}")
        inside = region.code(first)[:-1].rstrip().removesuffix(",")
        return Fix(
            "Cast it with the transfer",
            Applicability.SAFE,
            (*imported, replace_node(region, second, f"{inside}, {name})")),
        )
    edit = region.context.edit(start, end, text[middle:end] + text[start:middle])
    return Fix("Exchange the cast and the transfer", Applicability.SAFE, (edit,))


def _waits_for_copy(region: NodeRegion, call: cst.Call) -> bool:
    """Return whether a call is a transfer `.to(device)` that waits for its copy: torch then casts on the host."""
    if method_name(call) != "to" or find_argument(call, "non_blocking", 2) is not None:
        return False
    return transfer_target(region, call).device is not None
