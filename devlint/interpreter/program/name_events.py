"""Where names are read and bound within a piece of code, in the order that happens: one walk answers for all names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import libcst as cst

from devlint.interpreter.program.definitions import names_bound_by, names_in_target
from devlint.syntax.tree_walk import children, descend

Kind = Literal["read", "bind"]
NameEvent = tuple[Kind, cst.CSTNode]

NOTHING_HIDDEN: Final = frozenset[str]()


@dataclass(slots=True)
class _Named:
    """The occurrences of one name, and when each of them happens."""

    found: list[NameEvent] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)


class NameEvents:
    """The reads and bindings of names within a node.

    What another scope or another loop binds under the same name is not this name's value and is left out.
    """

    def __init__(self, node: cst.CSTNode) -> None:
        self._names: dict[str, _Named] = {}
        self._done: dict[cst.CSTNode, tuple[int, frozenset[str]]] = {}
        self._now = 0
        self._walk(node, NOTHING_HIDDEN)

    def of(self, name: str) -> Sequence[NameEvent]:
        """The occurrences of a name."""
        named = self._names.get(name)
        return named.found if named is not None else ()

    def before(self, node: cst.CSTNode, name: str) -> int | None:
        """How many occurrences of a name there are until `node` is done; None where the name is another one there."""
        moment, hidden = self._done.get(node, (0, frozenset({name})))
        if name in hidden:
            return None
        named = self._names.get(name)
        return bisect_right(named.moments, moment) if named is not None else 0

    def _walk(self, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        if type(node) in SPECIAL:
            self._walk_special(node, hidden)
        else:
            for child in children(node):
                self._walk(child, hidden)
        self._done[node] = self._now, hidden

    def _walk_special(self, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        match node:
            case cst.Name(value=value):
                self._note("read", value, node, hidden)
            case cst.Attribute(value=value):
                self._walk(value, hidden)
            case cst.Arg(value=value) | cst.Param(default=cst.BaseExpression() as value):
                self._walk(value, hidden)
            case cst.Assign(targets=targets, value=value):
                self._walk(value, hidden)
                for target in targets:
                    self._bind(target.target, hidden)
            case (
                cst.AnnAssign(target=target, value=cst.BaseExpression() as value)
                | cst.NamedExpr(target=target, value=value)
            ):
                self._walk(value, hidden)
                self._bind(target, hidden)
            case cst.AugAssign(target=target, value=value):
                self._walk(value, hidden)
                self._walk(target, hidden)
            case cst.For():
                self._walk_loop(node, hidden)
            case cst.ListComp() | cst.SetComp() | cst.DictComp() | cst.GeneratorExp():
                self._walk_comprehension(node, hidden)
            case cst.Lambda() | cst.FunctionDef():
                inner = hidden | _local(node)
                for child in children(node):
                    self._walk(child, inner)

    def _walk_loop(self, loop: cst.For, hidden: frozenset[str]) -> None:
        names = list(names_in_target(loop.target))
        inner = hidden.union(names)
        self._walk(loop.target, inner)
        self._walk(loop.iter, hidden)
        for name in names:
            self._note("bind", name, loop.target, hidden)
        self._walk(loop.body, inner)
        if loop.orelse is not None:
            self._walk(loop.orelse, inner)

    def _walk_comprehension(self, node: cst.BaseComp, hidden: frozenset[str]) -> None:
        inner = hidden.union(_bound_by_clauses(node.for_in))
        for child in children(node):
            if child is not node.for_in:
                self._walk(child, inner)
        for part in children(node.for_in):
            self._walk(part, hidden if part is node.for_in.iter else inner)

    def _bind(self, target: cst.BaseExpression, hidden: frozenset[str]) -> None:
        for name in dict.fromkeys(names_in_target(target)):
            self._note("bind", name, target, hidden)
        if isinstance(target, (cst.Subscript, cst.Attribute)):
            self._walk(target, hidden)

    def _note(self, kind: Kind, name: str, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        if name in hidden:
            return
        named = self._names.get(name)
        if named is None:
            named = self._names[name] = _Named()
        self._now += 1
        named.found.append((kind, node))
        named.moments.append(self._now)


SPECIAL: Final = frozenset(
    {
        cst.Name,
        cst.Attribute,
        cst.Arg,
        cst.Param,
        cst.Assign,
        cst.AnnAssign,
        cst.AugAssign,
        cst.NamedExpr,
        cst.For,
        cst.ListComp,
        cst.SetComp,
        cst.DictComp,
        cst.GeneratorExp,
        cst.Lambda,
        cst.FunctionDef,
    }
)
"""Nodes that read, bind or hide a name. Asking for the exact type spares all others the walk through the cases."""


def _local(function: cst.Lambda | cst.FunctionDef) -> frozenset[str]:
    """The names within a function that are its own, and not those of the code around."""
    params = function.params
    names = {one.name.value for one in (*params.params, *params.kwonly_params, *params.posonly_params)}
    inside = list(descend(function.body, into_functions=False))
    foreign = {item.name.value for one in inside if isinstance(one, (cst.Global, cst.Nonlocal)) for item in one.names}
    return frozenset(names.union({name for one in inside for name in names_bound_by(one)} - foreign))


def _bound_by_clauses(clause: cst.CompFor | None) -> Iterator[str]:
    while clause is not None:
        yield from names_in_target(clause.target)
        clause = clause.inner_for_in
