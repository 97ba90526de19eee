"""Fixes of copies and clocks: insert a synchronization, change whether the host waits for a copy, or do not pin it."""

from __future__ import annotations

from contextlib import suppress

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.fixes.call_edits import find_argument, method_name, remove_argument, remove_method_call, set_argument
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.statement_edits import insert_lines_before


def synchronize_before_clock(context: FixContext, started: Place, read: Place) -> Fix:
    """Return a fix for a time measurement that inserts a synchronization with the accelerator before both clock reads.

    `started` is the first clock read and `read` the second. Where none can be inserted before the first one, only the
    second one gets a synchronization.
    """
    edits = _synchronize_edits(context, read)
    with suppress(NoFix):
        edits = [*_synchronize_edits(context, started), *edits]
    return Fix("Synchronize before each reading of the clock", Applicability.UNSAFE, tuple(dict.fromkeys(edits)))


def _synchronize_edits(context: FixContext, clock: Place) -> list[Edit]:
    """Return the edits that insert a synchronization with the accelerator before the statement that reads a clock.

    The inserted code synchronizes only if an accelerator is available at run time.
    """
    region, node = context.region_at(clock), node_at(clock)
    torch, imported = write_library_name(region, node, "torch.cuda")
    wait = insert_lines_before(region, node, f"if {torch}.is_available():", f"{context.indent}{torch}.synchronize()")
    return [*imported, wait]


def make_copy_blocking(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that removes `non_blocking=True` from a transfer, so that the host waits for the copy."""
    argument = find_argument(call, "non_blocking") if isinstance(call, cst.Call) else None
    if argument is None or not isinstance(call, cst.Call) or not _is_name(argument.value, "True"):
        raise NoFix
    return Fix("Leave `non_blocking` out", Applicability.SAFE, (remove_argument(region, call, argument),))


def make_copy_non_blocking(region: NodeRegion, call: cst.CSTNode, *, safe: bool) -> Fix:
    """Return a fix that adds `non_blocking=True` to a transfer, so that the host does not wait for the copy."""
    if not isinstance(call, cst.Call) or any(_is_name(one.value, "False") for one in call.args if not one.keyword):
        raise NoFix
    argument = find_argument(call, "non_blocking")
    if argument is not None and not _is_name(argument.value, "False"):
        raise NoFix
    trust = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix("Add `non_blocking=True`", trust, (set_argument(region, call, "non_blocking", "True"),))


def transfer_without_pinning(region: NodeRegion, pinned: cst.CSTNode) -> Fix:
    """Return a fix that removes the call of `.pin_memory()` on which a transfer is chained.

    Raises NoFix where the transfer is a statement of its own.
    """
    if method_name(pinned) != "pin_memory":
        raise NoFix
    return Fix("Leave `.pin_memory()` out", Applicability.SAFE, (remove_method_call(region, pinned),))


def _is_name(node: cst.BaseExpression, word: str) -> bool:
    """Return whether an expression is the given name or constant, such as `True`."""
    return isinstance(node, cst.Name) and node.value == word
