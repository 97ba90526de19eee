"""The structure of code: what is left of a syntax node without its white space, comments and parentheses."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from typing import Final

import libcst as cst

from devlint.syntax.tree_walk import semantic_fields

_OPERATORS: Final = (cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseCompOp, cst.BaseUnaryOp)
"""The classes of the operators of expressions."""


def structure_of(node: cst.CSTNode) -> Hashable:
    """Return what is equal for two syntax nodes that stand for the same code, however it is laid out."""
    inner = semantic_fields(type(node))
    found: list[Hashable] = [type(node)]
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, _OPERATORS):
            found.append(type(value))
        elif field.name in inner:
            several = value if isinstance(value, list | tuple) else (value,)
            found.append(tuple(structure_of(one) if isinstance(one, cst.CSTNode) else None for one in several))
    return tuple(found)
