"""Reading of the names that a module exports through a literal `__all__`."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devlint.syntax.statement import Statement


def declared_exports(statements: Iterable[Statement]) -> frozenset[str] | None:
    """Return the names in a module's `__all__`, or None if they cannot be determined.

    The names can be determined if `__all__` is a literal list or tuple, also with other literals added to it.
    """
    declared: frozenset[str] | None = None
    for statement in statements:
        if "__all__" not in statement.mentions or statement.kind in ("function", "class"):
            continue
        tree = statement.tree_or_none
        if tree is None:
            return None
        for part in tree.body if isinstance(tree, cst.SimpleStatementLine) else (tree,):
            declared = _names_after(part, declared)
            if declared is None:
                return None
    return declared


def _names_after(part: cst.CSTNode, declared: frozenset[str] | None) -> frozenset[str] | None:
    """Return the names in `__all__` after a statement that mentions `__all__`.

    `declared` has the names before the statement. Return None if the names cannot be determined.
    """
    match part:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name("__all__"))], value=value):
            return _literal_strings(value)
        case cst.AnnAssign(target=cst.Name("__all__"), value=value) if value is not None:
            return _literal_strings(value)
        case cst.AugAssign(target=cst.Name("__all__"), operator=cst.AddAssign(), value=value):
            added = _literal_strings(value)
            return declared | added if declared is not None and added is not None else None
        case _:
            return None


def _literal_strings(node: cst.BaseExpression) -> frozenset[str] | None:
    """Return the strings in a literal list or tuple; None for any other expression or if an element is no string."""
    if not isinstance(node, (cst.List, cst.Tuple)):
        return None
    names = [element.value.evaluated_value for element in node.elements if isinstance(element.value, cst.SimpleString)]
    if len(names) != len(node.elements):
        return None
    return frozenset(name for name in names if isinstance(name, str))
