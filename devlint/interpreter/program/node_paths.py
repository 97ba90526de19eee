"""Paths down a syntax tree: the nodes around a node, from the outermost one to the node itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import libcst as cst

from devlint.syntax.tree_walk import children, descend


def path_to(root: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the nodes from `root` down to `node`; empty where `root` does not contain `node`."""
    parents = _parents(root)
    path = [node]
    while path[-1] is not root:
        above = parents.get(path[-1])
        if above is None:
            return []
        path.append(above)
    return path[::-1]


@lru_cache(maxsize=64)
def _parents(root: cst.CSTNode) -> Mapping[cst.CSTNode, cst.CSTNode]:
    """Return the parent of each node below another one; the same functions are asked about again and again.

    Few answers are kept: each is as large as a function, and a server analyses many versions of it.
    """
    return {child: parent for parent in (root, *descend(root)) for child in children(parent)}
