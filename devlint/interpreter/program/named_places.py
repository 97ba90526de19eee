"""The places where a file names a function: it calls it there, or passes it on to be called."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend


def paths_to_name(module: ModuleInfo, function: str) -> Iterator[list[cst.CSTNode]]:
    """Yield the paths to the places where a file names a function, except where it defines or imports it.

    The path is empty for a place in a statement that cannot be parsed.
    """
    for unit in module.index.statements:
        if function in unit.mentions and unit.kind != "import" and unit.name != function:
            tree = unit.tree_or_none
            if tree is None:
                yield []
                continue
            for node in descend(tree):
                if isinstance(node, cst.Name) and node.value == function:
                    yield path_to(tree, node)
