"""What the calls of a method within its class ask of attributes of `self` first, as `if self.offload: self.keep(x)`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import libcst as cst

from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.text_words import ends_of_word
from devlint.syntax.tree_walk import descend


@dataclass(frozen=True, slots=True)
class Guard:
    """The truth of an attribute of `self` under which alone a method is called, and a node that reads the attribute."""

    attribute: str
    holds: bool
    node: cst.Attribute = field(compare=False)


def guards_of_calls(cls: ClassInfo, method: str) -> Collection[Guard]:
    """Return what all calls of a method ask first; empty where code outside of the class's methods names the method.

    The text of the class's file is asked for that; of other files nothing is known here.
    """
    # Elsewhere than in the definition and in these calls, the name must not stand.
    times = cls.unit.text.count(f"self.{method}(")
    if not times or _count(cls.module.source.text, method) != times + 1:
        return ()
    calls = [{*_guards_around(function.node, call)} for function, call in _calls_in(cls).get(method, ())]
    guards = frozenset[Guard]().union(*calls).intersection(*calls)
    return guards if len(calls) == times else ()


def _count(text: str, name: str) -> int:
    """Return how often a name stands in a text."""
    return sum(1 for _ in ends_of_word(text, name))


@lru_cache(maxsize=8)
def _calls_in(cls: ClassInfo) -> Mapping[str, Sequence[tuple[FunctionInfo, cst.Call]]]:
    """Return the calls `self.method(...)` in a class's methods, each with the method that it stands in, by name.

    One method of a class is asked about after the other.
    """
    found: dict[str, list[tuple[FunctionInfo, cst.Call]]] = {}
    for function in cls.methods.values():
        for node in descend(function.node):
            if type(node) is cst.Call:
                match node.func:
                    case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                        found.setdefault(name, []).append((function, node))
    return found


def _guards_around(function: cst.CSTNode, call: cst.Call) -> Iterator[Guard]:
    """Yield what the branches around a call ask of attributes of `self`."""
    for above, below in pairwise(path_to(function, call)):
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            yield from _asked(above.test, below is above.body)


def _asked(test: cst.BaseExpression, holds: bool) -> Iterator[Guard]:
    """Yield what the outcome of a test says of attributes of `self`."""
    match test:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            yield Guard(name, holds, test)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _asked(inner, not holds)
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            if isinstance(operator, cst.And) is holds:
                yield from _asked(left, holds)
                yield from _asked(right, holds)
