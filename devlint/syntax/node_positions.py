"""Computation of the position in its file of each node of a statement's libcst tree."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from devlint.diagnostic import Position
from devlint.syntax.code_regions import code_regions
from devlint.syntax.index import FileIndex
from devlint.syntax.statement import Statement


def node_positions(
    statement: Statement, nodes: Collection[cst.CSTNode], index: FileIndex
) -> dict[cst.CSTNode, tuple[Position, Position]]:
    """Return the positions in the file at which each node of a statement's libcst tree starts and (exclusive) ends.

    The region of an expression leaves out white space, comments and the parentheses around it, except those of a tuple
    or a generator expression. For the name of a function or class pass its `name` node. Raises SourceError if the
    statement is nested too deeply.
    """
    regions = code_regions(statement.module, nodes, statement.text)
    position = index.lines.position
    return {
        node: (position(statement.start + start), position(statement.start + end))
        for node, (start, end) in regions.items()
    }
