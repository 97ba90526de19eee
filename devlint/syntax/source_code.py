"""The source code of a syntax node: as it is written, or only the words in it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend


def source_code(unit: object, node: cst.CSTNode) -> str:
    """Return the source code of a syntax node as it is written; `unit` is the top-level statement that holds the node.

    If libcst cannot parse the statement, the code has other white space and no parentheses.
    """
    if isinstance(unit, Statement):
        unit.lay_out()
    return cst.Module([]).code_for_node(node)


def words_in(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names and the literals in the code of a syntax node, without comments."""
    for one in (node, *descend(node)):
        if isinstance(one, (cst.Name, cst.SimpleString, cst.FormattedStringText)):
            yield one.value
