"""The reads and bindings of names in a piece of code, in execution order; one walk collects them for all names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import libcst as cst

from devlint.interpreter.program.definitions import local_names
from devlint.interpreter.program.node_kinds import ASSIGNMENTS, COMPREHENSIONS, FUNCTIONS, IDENTIFIERS, LOOPS
from devlint.syntax.tree_walk import children, names_in_target

Kind = Literal["read", "bind"]
"""The kind of a name event."""
NameEvent = tuple[Kind, cst.CSTNode]
"""A read or a binding of a name, and the node at which it happens."""

EVENT_TYPES: Final = IDENTIFIERS | ASSIGNMENTS | LOOPS | COMPREHENSIONS | FUNCTIONS
"""The node types that read, bind or hide names by themselves, or visit their parts in another order than the text."""
NOTHING_HIDDEN: Final = frozenset[str]()
"""The set of hidden names where the walk starts."""


@dataclass(slots=True)
class _EventsOfName:
    """The reads and bindings of one name, and the position of each among the reads and bindings of all names."""

    found: list[NameEvent] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


class NameEvents:
    """The reads and bindings (events) of names within a syntax node, for each name in execution order.

    Inside a nested scope, or a loop whose target binds the name, the name is another variable; events there are left
    out.
    """

    def __init__(self, node: cst.CSTNode) -> None:
        self._names: dict[str, _EventsOfName] = {}
        self._end_of_node: dict[cst.CSTNode, tuple[int, frozenset[str]]] = {}
        self._position = 0
        self._walk(node, NOTHING_HIDDEN)

    def of(self, name: str) -> Sequence[NameEvent]:
        """Return the recorded reads and bindings of a name, in execution order."""
        named = self._names.get(name)
        return named.found if named is not None else ()

    def before(self, node: cst.CSTNode, name: str) -> int | None:
        """Return the number of reads and bindings of a name up to the end of `node`.

        The result is None if the name means another variable at that point.
        """
        position, hidden = self._end_of_node.get(node, (0, frozenset({name})))
        if name in hidden:
            return None
        named = self._names.get(name)
        return bisect_right(named.positions, position) if named is not None else 0

    def _walk(self, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        """Record the reads and bindings of names in a node and its children, without the names in `hidden`.

        Hidden names are those that mean other variables inside the node.
        """
        if type(node) in EVENT_TYPES:
            self._walk_special(node, hidden)
        else:
            for child in children(node):
                self._walk(child, hidden)
        self._end_of_node[node] = self._position, hidden

    def _walk_special(self, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        """Record the reads and bindings of names in a node whose type needs a rule of its own (one of EVENT_TYPES)."""
        match node:
            case cst.Name(value=value):
                self._record("read", value, node, hidden)
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
            case cst.BaseComp():
                self._walk_comprehension(node, hidden)
            case cst.Lambda() | cst.FunctionDef():
                inner = hidden | local_names(node)
                for child in children(node):
                    self._walk(child, inner)
            case cst.While():
                for child in children(node):
                    self._walk(child, hidden)

    def _walk_loop(self, loop: cst.For, hidden: frozenset[str]) -> None:
        """Record the reads and bindings of names in a `for` loop; the loop's targets are hidden inside it."""
        names = list(names_in_target(loop.target))
        inner = hidden.union(names)
        self._walk(loop.target, inner)
        self._walk(loop.iter, hidden)
        for name in names:
            self._record("bind", name, loop.target, hidden)
        self._walk(loop.body, inner)
        if loop.orelse is not None:
            self._walk(loop.orelse, inner)

    def _walk_comprehension(self, node: cst.BaseComp, hidden: frozenset[str]) -> None:
        """Record the reads and bindings of names in a comprehension; its own targets are hidden inside it."""
        inner = hidden.union(_bound_by_clauses(node.for_in))
        for child in children(node):
            if child is not node.for_in:
                self._walk(child, inner)
        for part in children(node.for_in):
            self._walk(part, hidden if part is node.for_in.iter else inner)

    def _bind(self, target: cst.BaseExpression, hidden: frozenset[str]) -> None:
        """Record the bindings by an assignment target, and the reads inside a subscript or attribute target."""
        for name in dict.fromkeys(names_in_target(target)):
            self._record("bind", name, target, hidden)
        if isinstance(target, (cst.Subscript, cst.Attribute)):
            self._walk(target, hidden)

    def _record(self, kind: Kind, name: str, node: cst.CSTNode, hidden: frozenset[str]) -> None:
        """Record one read or binding of a name, unless the name means another variable at that point (is hidden)."""
        if name in hidden:
            return
        named = self._names.get(name)
        if named is None:
            named = self._names[name] = _EventsOfName()
        self._position += 1
        named.found.append((kind, node))
        named.positions.append(self._position)


def _bound_by_clauses(clause: cst.CompFor | None) -> Iterator[str]:
    """Yield the names that the `for` clauses of a comprehension bind."""
    while clause is not None:
        yield from names_in_target(clause.target)
        clause = clause.inner_for_in
