"""Tests of the value that a finding is about, by unknown functions or by its class: they may keep the value out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.path_conditions import Atom, Conjunction, Literal
from devlint.interpreter.conditions.condition_texts import SourceText
from devlint.interpreter.state.events import Event
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
    """Yield the conditions on the way to an event that ask what a value in its expression is, and were not decided.

    Only tests in the function of the event count: there, a name means the same value.
    """
    expression, body = event.context.place.node, event.context.scope.body
    if not isinstance(expression, cst.CSTNode) or not isinstance(body, cst.CSTNode):
        return
    names = {one for node in (expression, *descend(expression)) if (one := dotted_name(node)) is not None}
    within = set(descend(body))
    for literal in event.context.path_condition:
        for node in _tests(literal):
            if node in within and any(_asks_for_kind(one, names) for one in (node, *descend(node))):
                yield literal
                break


def _tests(literal: Literal) -> Iterator[cst.CSTNode]:
    """Yield the expressions of the program that a condition consists of, where single expressions stand for them."""
    match literal.formula:
        case Atom(text=SourceText(node=node)):
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
