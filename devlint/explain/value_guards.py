"""Tests of the value that a finding is about, by its kind or its size: they may keep the value out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from devlint.domain.path_conditions import Atom, Conjunction, Literal
from devlint.domain.placement import Place
from devlint.interpreter.conditions.condition_texts import EqualityText, SourceText
from devlint.interpreter.state.events import Event, RefusedIndexDtype, RefusedTargetDtype
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name

_ASK_FOR_VALUES: Final = frozenset("abs all any bool float id int len max min next print range round str sum".split())
"""The builtin functions whose answer does not tell what kind of thing their argument is."""

_LIBRARIES: Final = ("torch.", "np.", "numpy.", "math.", "F.")
"""The modules whose functions ask tensors for their values and sizes."""

_KNOWN_CLASSES: Final = frozenset(
    "Tensor torch.Tensor Parameter nn.Parameter np.ndarray numpy.ndarray bool dict float int list set str tuple".split()
)
"""The classes of which it is known whether they are those of tensors: a test for one of them leaves nothing open."""


def value_guards(event: Event) -> Iterator[Literal]:
    """Yield the conditions on the way to an event that ask what a value in its expression is, and were not decided."""
    yield from _guards(event, _asks_for_kind)


def size_guards(event: Event) -> Iterator[Literal]:
    """Yield the conditions on the way to an event that ask whether a value in its expression has the size of another.

    What is kept until the sizes differ is made anew for the first input: `if self.mask.shape != x.shape:`.
    """
    yield from _guards(event, _compares_size)


def rank_guards(event: Event) -> Iterator[Literal]:
    """Yield the conditions on the way to an event that compare the ranks of a value in its expression and of another.

    Programs that take labels as numbers or one for each class tell them apart so: `if labels.dim() < scores.dim():`.
    """
    yield from _guards(event, _compares_rank)


def kind_guards_by_rank(event: Event) -> Iterator[Literal]:
    """Yield the conditions on the way to a refused index or target that compare its rank with a number.

    Classes have one dimension less than their probabilities, and programs that take both tell them apart so: `if
    x.dim() == 3:`. The test may be in a function that passes the tensor on.
    """
    if not isinstance(event, RefusedIndexDtype | RefusedTargetDtype):
        return
    calls = (one.place for one in event.context.calls)
    passing = [event.operand.place, *(one for one in calls if isinstance(one.node, cst.Call))]
    for literal in event.context.path_condition:
        for test in _tests(literal):
            ranked = _compared_rank(test)
            if ranked is not None and any(ranked in _names_in(place) and _is_in(test, place) for place in passing):
                yield literal
                break


def _names_in(place: Place) -> set[str]:
    """Return the dotted names in the expression at a place."""
    node = place.node
    parts = (node, *descend(node)) if isinstance(node, cst.CSTNode) else ()
    return {name for one in parts if (name := dotted_name(one)) is not None}


def _is_in(node: cst.CSTNode, place: Place) -> bool:
    """Return whether an expression stands in the same top-level statement of a file as a place."""
    return isinstance(place.unit, Statement) and any(one is node for one in descend(place.unit.tree))


def _compared_rank(node: cst.CSTNode) -> str | None:
    """Return the name of which a comparison compares the number of dimensions with a number; else None."""
    match node:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=cst.Integer())]):
            return _owner_of_rank(left)
    return None


def _guards(event: Event, asks: Callable[[cst.CSTNode, set[str]], bool]) -> Iterator[Literal]:
    """Yield the conditions on the way to an event with an expression that asks something of a name in its expression.

    Only tests in the function of the event count: there, a name means the same value.
    """
    expression, body = event.context.place.node, event.context.scope.body
    if not isinstance(expression, cst.CSTNode) or not isinstance(body, cst.CSTNode):
        return
    names = {one for node in (expression, *descend(expression)) if (one := dotted_name(node)) is not None}
    within = set(descend(body))
    for literal in event.context.path_condition:
        for node in _tests(literal):
            if node in within and any(asks(one, names) for one in (node, *descend(node))):
                yield literal
                break


def _tests(literal: Literal) -> Iterator[cst.CSTNode]:
    """Yield the expressions of the program that a condition consists of, where single expressions stand for them."""
    match literal.formula:
        case Atom(text=SourceText(node=node) | EqualityText(node=node)):
            yield node
        case Conjunction(tests=tests):
            for one in tests:
                yield from _tests(one)


def _asks_for_kind(node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether an expression is the call of a function that may tell what kind of thing one of some names is."""
    if not isinstance(node, cst.Call) or not any(dotted_name(one.value) in names for one in node.args):
        return False
    called = dotted_name(node.func)
    if called is None or called in _ASK_FOR_VALUES or called.startswith(_LIBRARIES):
        return False
    return called != "isinstance" or not {dotted_name(one.value) for one in node.args[1:]} <= _KNOWN_CLASSES


def _compares_size(node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether an expression asks whether the size of one of some names equals another size."""
    match node:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual(), comparator=right)]
        ):
            sizes = [_owner_of_size(side) for side in (left, right)]
            return None not in sizes and not names.isdisjoint(sizes)
    return False


def _compares_rank(node: cst.CSTNode, names: set[str]) -> bool:
    """Return whether an expression compares the number of dimensions of one of some names with that of another."""
    match node:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            ranked = [_owner_of_rank(side) for side in (left, right)]
            return None not in ranked and not names.isdisjoint(ranked)
    return False


def _owner_of_rank(node: cst.BaseExpression) -> str | None:
    """Return the name of which an expression reads the number of dimensions, or one near it; else None.

    Such are `x.dim()`, `len(x.shape)` and `x.ndim - 1`.
    """
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract(), right=cst.Integer()):
            return _owner_of_rank(left)
        case cst.Attribute(value=owner, attr=cst.Name(value="ndim")):
            return dotted_name(owner)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="dim" | "ndimension")), args=[]):
            return dotted_name(owner)
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=size)]):
            return _owner_of_size(size)
    return None


def _owner_of_size(node: cst.BaseExpression) -> str | None:
    """Return the name of which an expression reads the size: `x.shape`, `x.size()`; None for any other expression."""
    match node:
        case cst.Attribute(value=owner, attr=cst.Name(value="shape")):
            return dotted_name(owner)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="size")), args=[]):
            return dotted_name(owner)
    return None
