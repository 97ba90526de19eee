"""Calls of functions that need an accelerator, put under a check: without one they do nothing, or return a value."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.fix_context import NodeRegion
from devlint.fixes.statement_edits import indentation_at


def call_under_check(
    region: NodeRegion, call: cst.Call, function: str, available: str, others: Sequence[Edit], result: str
) -> tuple[str, list[Edit]]:
    """Return how a call is written under a check that there is an accelerator: a text to show, and the edits.

    `function` is the new text of the function and `available` that of the check; `others` are the edits of the
    arguments. Without an accelerator, the expression has the value of the text `result`. A call that is a statement of
    its own gets an `if` around it.
    """
    shown = f"{function}(...)" if call.args else f"{function}()"
    start, end = region.span(call)
    name_end = region.span(call.func)[1]
    if _has_own_lines(region, call):
        blanks = indentation_at(region, start)
        opening = f"if {available}:{region.context.newline(start)}{blanks}{region.context.indent}"
        return f"if {available}: {shown}", [*others, region.context.edit(start, name_end, opening + function)]
    opening, closing = "(", f" if {available} else {result})"
    if _is_whole_value(region, call):
        opening, closing = "", closing[:-1]
    edits = [region.context.edit(start, name_end, opening + function), *others, region.context.edit(end, end, closing)]
    return f"{opening}{shown}{closing}", edits


def _has_own_lines(region: NodeRegion, call: cst.Call) -> bool:
    """Return whether a call is the only statement on its lines, so that an `if` fits around it."""
    expression = region.parent(call)
    line = region.parent(expression) if isinstance(expression, cst.Expr) else None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return False
    start, end = region.span(call)
    rest = region.context.text[end : region.context.next_line(end)].strip()
    is_line = indentation_at(region, start) is not None and (not rest or rest.startswith("#"))
    return is_line and isinstance(region.parent(line), (cst.IndentedBlock, type(None)))


def _is_whole_value(region: NodeRegion, call: cst.Call) -> bool:
    """Return whether a call is a statement, or the whole value of one, where no parentheses are needed."""
    above = region.parent(call)
    return isinstance(above, (cst.Expr, cst.Assign, cst.AnnAssign, cst.Return)) and not call.lpar
