"""Entries of a container that the same code treats one by one, such as the tensors of a batch, whose dtypes may differ.

What code does to one entry it does to all: `{key: value.to(device) for key, value in batch.items()}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.placement import Place
from devlint.interpreter.program.joined_elements import joining_function
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import names_in_target

_ENTRIES: Final = frozenset({"items", "values"})
"""The methods of a dict that return its entries."""


def is_one_of_entries(place: Place) -> bool:
    """Return whether the tensor of an expression is an entry of a container, one of several that may differ in dtype.

    A comprehension binds the variable, or a loop over a dict or over what its head lists. A loop over anything else,
    such as a loader, gets the like each time, and so does a comprehension whose elements become one tensor.
    """
    if not isinstance(place.unit, Statement) or not isinstance(place.node, cst.BaseExpression):
        return False
    tree = place.unit.tree
    names = set(_variables(place.node))
    for above in reversed(path_to(tree, place.node) if names else []):
        match above:
            case cst.BaseComp(for_in=clause):
                if not names.isdisjoint(_bound_by(clause)):
                    return joining_function(tree, place.node) is None
            case cst.For(target=target, iter=source) if not names.isdisjoint(names_in_target(target)):
                return _lists_entries(source)
            case cst.FunctionDef() | cst.Lambda():
                return False
    return False


def _variables(node: cst.BaseExpression) -> Iterator[str]:
    """Yield the names of the variables whose tensor an expression may return, converted: `x` for `f(x.float())`."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Call(func=function, args=arguments):
            if isinstance(function, cst.Attribute):
                yield from _variables(function.value)
            for one in arguments[:1]:
                yield from _variables(one.value)


def _bound_by(clause: cst.CompFor | None) -> Iterator[str]:
    """Yield the names that the loops of a comprehension bind."""
    while clause is not None:
        yield from names_in_target(clause.target)
        clause = clause.inner_for_in


def _lists_entries(source: cst.BaseExpression) -> bool:
    """Return whether what a loop runs over is a tuple or list that is written there, or the entries of a dict."""
    match source:
        case cst.Tuple() | cst.List():
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in _ENTRIES
    return False
