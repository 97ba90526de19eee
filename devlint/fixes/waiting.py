"""Waits for the accelerator where they are missing, and copies that wait or need not."""

from __future__ import annotations

from contextlib import suppress

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.fixes.calls import drop_argument, find_argument, set_argument
from devlint.fixes.imports import spell
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.statements import put_before


def wait_for_clock(sheet: FixContext, started: Place, read: Place) -> Fix:
    """The host waits for the accelerator before the clock is read, and before it is started where there is room."""
    edits = _waits(sheet, read)
    with suppress(NoFix):
        edits = [*_waits(sheet, started), *edits]
    return Fix("Wait for the accelerator", Applicability.UNSAFE, tuple(dict.fromkeys(edits)))


def _waits(sheet: FixContext, clock: Place) -> list[Edit]:
    """A wait in front of a statement, where there is an accelerator to wait for."""
    part, node = sheet.part(clock), node_at(clock)
    torch, imported = spell(part, node, "torch.cuda")
    wait = put_before(part, node, f"if {torch}.is_available():", f"{sheet.indent}{torch}.synchronize()")
    return [*imported, wait]


def copy_blocking(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """`non_blocking=True` is left out."""
    argument = find_argument(call, "non_blocking") if isinstance(call, cst.Call) else None
    if argument is None or not isinstance(call, cst.Call) or not _is_word(argument.value, "True"):
        raise NoFix
    return Fix("Wait for the copy", Applicability.SAFE, (drop_argument(part, call, argument),))


def copy_unblocked(part: NodeRegion, call: cst.CSTNode, *, safe: bool) -> Fix:
    """`non_blocking=True` is put in."""
    if not isinstance(call, cst.Call) or any(_is_word(one.value, "False") for one in call.args if not one.keyword):
        raise NoFix
    argument = find_argument(call, "non_blocking")
    if argument is not None and not _is_word(argument.value, "False"):
        raise NoFix
    trust = Applicability.SAFE if safe else Applicability.UNSAFE
    return Fix("Let the copy run beside the host", trust, (set_argument(part, call, "non_blocking", "True"),))


def _is_word(node: cst.BaseExpression, word: str) -> bool:
    return isinstance(node, cst.Name) and node.value == word
