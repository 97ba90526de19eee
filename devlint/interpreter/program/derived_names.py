"""Local names that a function computes from another one by arithmetic: their tensors are on the same device."""

from __future__ import annotations

import libcst as cst

from devlint.syntax.tree_walk import descend


def is_computed_from(function: cst.FunctionDef | cst.Lambda, name: str, source: str) -> bool:
    """Return whether all that a function binds `name` to is arithmetic that has `source`, or what comes from it.

    An operation on two tensors of several elements raises unless both are on one device.
    """
    return _Derivation(function, source).reaches(name)


class _Derivation:
    """What a function computes from one of its names, `source`."""

    def __init__(self, function: cst.FunctionDef | cst.Lambda, source: str) -> None:
        self._bound: dict[str, list[cst.BaseExpression | None]] = {}
        self._known = {source: True}
        for node in descend(function.body, into_functions=False):
            match node:
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                    self._bound.setdefault(name, []).append(value)
                case cst.AssignTarget(target=cst.Tuple() | cst.List() as target) | cst.For(target=target):
                    for one in (target, *descend(target)):
                        if isinstance(one, cst.Name):
                            self._bound.setdefault(one.value, []).append(None)

    def reaches(self, name: str) -> bool:
        """Return whether each value of a name comes from the source."""
        known = self._known.get(name)
        if known is None:
            self._known[name] = False  # A name that is computed from itself is decided by its other values.
            values = self._bound.get(name, [])
            known = self._known[name] = bool(values) and all(one is not None and self._follows(one) for one in values)
        return known

    def _follows(self, value: cst.BaseExpression) -> bool:
        """Return whether an expression is the source, or arithmetic with what comes from it."""
        match value:
            case cst.Name(value=name):
                return self.reaches(name)
            case cst.BinaryOperation(left=left, right=right):
                return self._follows(left) or self._follows(right)
            case cst.UnaryOperation(expression=inner):
                return self._follows(inner)
            case cst.Call(func=cst.Attribute(value=cst.Name(value="torch")), args=[cst.Arg(value=inner, keyword=None)]):
                return self._follows(inner)
        return False
