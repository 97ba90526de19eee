"""Completion of a semantic tree with the layout of its text: white space, comments, punctuation and parentheses."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import libcst as cst

from devlint.syntax.semantic_tree.node_makers import slot_of
from devlint.syntax.tree_walk import children, semantic_fields


class _LayoutSlots(dict[type[cst.CSTNode], tuple[Any, ...]]):
    """A mapping from each libcst node class to the slots of its fields without meaning, computed when first used."""

    def __missing__(self, cls: type[cst.CSTNode]) -> tuple[Any, ...]:
        meant = semantic_fields(cls)
        self[cls] = tuple(slot_of(cls, field.name) for field in fields(cls) if field.name not in meant)
        return self[cls]


_LAYOUT_SLOTS = _LayoutSlots()


def complete_layout(tree: cst.CSTNode, exact: cst.CSTNode) -> bool:
    """Give the nodes of a semantic tree the layout of the same code's nodes in an exact tree, from libcst's parser.

    The nodes stay the same objects, so that what is known of them stays true. Return False, and change nothing, if the
    trees differ in a node with meaning.
    """
    pairs = [(tree, exact)]
    for node, twin in pairs:
        below, below_twin = [*children(node)], [*children(twin)]
        if type(node) is not type(twin) or len(below) != len(below_twin):
            return False
        pairs += zip(below, below_twin, strict=True)
    for node, twin in pairs:
        for slot in _LAYOUT_SLOTS[type(node)]:
            slot.__set__(node, slot.__get__(twin))
    return True
