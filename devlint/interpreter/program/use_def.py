"""Use-def chains of names: the reads of the value that a name holds at a point of the code.

They are the reads after the name was bound and before it is bound again, including those in the next iteration of an
enclosing loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo, names_bound_by
from devlint.interpreter.program.liveness import reads_of_name
from devlint.interpreter.program.name_events import NameEvent, NameEvents
from devlint.interpreter.program.node_kinds import LOOPS
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement

Code = Sequence[cst.CSTNode]
"""A sequence of syntax nodes, executed in order."""


class RunningCode(Protocol):
    """The part of a frame that use-def questions need: the function being run, or the module's top-level statement."""

    function: FunctionInfo | None
    module: ModuleInfo
    unit: Statement


class UseDef:
    """The use-def analysis: it tells which reads see the value that a name holds at a point, and caches the answers."""

    def __init__(self) -> None:
        self._events_by_node: dict[cst.CSTNode, NameEvents] = {}
        self._sequences: dict[tuple[Hashable, str], _EventSequence] = {}
        self._only_reader: dict[tuple[cst.CSTNode, str], bool] = {}
        self._read_later: dict[tuple[cst.CSTNode, str], bool] = {}
        self._used_once_by_node: dict[cst.CSTNode, bool] = {}

    def only_reader(self, frame: RunningCode, use: cst.CSTNode, name: str) -> bool:
        """Return whether no node but `use` reads the value that `name` holds at `use`."""
        known = self._only_reader.get((use, name))
        if known is None:
            own = set(reads_of_name(use, name))
            before, after = self._readers(frame, use, name)
            known = bool(own) and own.issuperset(before) and own.issuperset(after)
            self._only_reader[use, name] = known
        return known

    def read_later(self, frame: RunningCode, at: cst.CSTNode, name: str) -> bool:
        """Return whether the value that `name` holds at the node `at` is read afterwards."""
        known = self._read_later.get((at, name))
        if known is None:
            known = self._read_later[at, name] = bool(self._readers(frame, at, name)[1])
        return known

    def reads_after(self, frame: RunningCode, at: cst.Name) -> list[cst.CSTNode]:
        """Return the reads of a name, after the one at `at`, that see the same value."""
        return self._readers(frame, at, at.value)[1]

    def used_once(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        """Return whether the value of an expression is read at most once.

        Where the expression is the value of an assignment to a name, the reads of that name are counted.
        """
        known = self._used_once_by_node.get(node)
        if known is None:
            known = self._used_once_by_node[node] = self._used_once(frame, node)
        return known

    def path(self, frame: RunningCode, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return the nodes from that of the code being run down to `node`; empty where that code has no such node."""
        return path_to(root_node(frame), node)

    def _used_once(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        """Compute the answer of `used_once` for an expression node that is not in the cache."""
        statement = self._assignment_around(frame, node)
        if statement is None:
            return True
        name = _only_target(statement)
        return name is not None and len(self._readers(frame, statement, name)[1]) <= 1

    def reads_of_result(self, frame: RunningCode, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return the reads of the name that an expression's value is assigned to; none if no statement does that."""
        statement = self._assignment_around(frame, node)
        name = _only_target(statement) if statement is not None and statement.value is node else None
        return self._readers(frame, statement, name)[1] if statement is not None and name is not None else []

    def gets_unread_name(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        """Return whether the value of an expression is assigned to a name of which no code reads it."""
        statement = self._assignment_around(frame, node)
        name = _only_target(statement) if statement is not None and statement.value is node else None
        return statement is not None and name is not None and not any(self._readers(frame, statement, name))

    def is_only_handed_back(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        """Return whether a function only returns the value of an expression, perhaps by way of names."""
        return frame.function is not None and self._is_handed_back(frame, node, ())

    def _is_handed_back(self, frame: RunningCode, node: cst.CSTNode, followed: tuple[cst.CSTNode, ...]) -> bool:
        """Answer `is_only_handed_back`; `followed` are the expressions from which names have led here."""
        match self.path(frame, node):
            case [*_, cst.Return(), _]:
                return True
            case [*_, cst.Assign(value=value) as statement, _] if value is node and node not in followed:
                name = _only_target(statement)
                reads = self._readers(frame, statement, name)[1] if name is not None else []
                return bool(reads) and all(self._is_handed_back(frame, one, (*followed, node)) for one in reads)
        return False

    def _assignment_around(self, frame: RunningCode, node: cst.CSTNode) -> cst.Assign | None:
        """Return the assignment statement that contains a node; None without one."""
        return next((one for one in reversed(self.path(frame, node)) if isinstance(one, cst.Assign)), None)

    def _events_in(self, node: cst.CSTNode) -> NameEvents:
        """Return the reads and bindings of all names within a syntax node, cached by node."""
        found = self._events_by_node.get(node)
        if found is None:
            found = self._events_by_node[node] = NameEvents(node)
        return found

    def _sequence(self, key: Hashable, name: str, parts: Iterable[cst.CSTNode]) -> _EventSequence:
        """Return the reads and bindings of a name in some pieces of code (`parts`).

        `key` identifies the code in the cache of answers.
        """
        known = self._sequences.get((key, name))
        if known is None:
            known = self._sequences[key, name] = _EventSequence()
            for part in parts:
                known.begins[part] = len(known.events)
                known.events.extend(self._events_in(part).of(name))
        return known

    def _readers(self, frame: RunningCode, at: cst.CSTNode, name: str) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
        """Return the reads of the value that `name` holds at the end of `at`: those before that point and those after.

        If a loop or comprehension around `at` binds the name, only that loop's body counts. In any other enclosing
        loop, the reads at the start of its body follow those at its end.
        """
        root = root_node(frame)
        path = path_to(root, at)
        binder = next((i for i in reversed(range(len(path) - 1)) if name in _bound_by_head(path[i])), None)
        if binder is not None:
            loop, path = path[binder], path[binder + 1 :]
            sequence = self._sequence(("each", loop), name, _code_per_element(loop))
        else:
            sequence = self._sequence(frame.function or frame.module, name, code_reading_name(frame, name))
        part = next((one for one in path if one in sequence.begins), None)
        done = self._events_in(part).before(at, name) if part is not None else None
        if part is None or done is None:
            return [at], [at]
        position = sequence.begins[part] + done
        bound = sequence.last_bound(position)
        after = sequence.reads_from(position)
        start = sequence.events[bound][1] if bound is not None else at
        around = path_to(root, start)
        for one in path:
            if type(one) in LOOPS and one in around:
                after += self._sequence(one, name, [one]).reads_from(0)
        begun = 0 if bound is None else bound + 1
        return [one for kind, one in sequence.events[begun:position] if kind == "read"], list(dict.fromkeys(after))


@dataclass(slots=True)
class _EventSequence:
    """The reads and bindings of one name in several pieces of code, in order, and where each piece begins."""

    events: list[NameEvent] = field(default_factory=list)
    begins: dict[cst.CSTNode, int] = field(default_factory=dict)

    def last_bound(self, position: int) -> int | None:
        """Return the index of the last binding of the name before a position in the sequence; None if there is none."""
        return next((i for i in reversed(range(position)) if self.events[i][0] == "bind"), None)

    def reads_from(self, position: int) -> list[cst.CSTNode]:
        """Return the reads of the name from a position in the sequence on, until the name is bound again."""
        found = []
        for i in range(position, len(self.events)):
            kind, node = self.events[i]
            if kind == "bind":
                break
            found.append(node)
        return found


def _only_target(statement: cst.Assign) -> str | None:
    """Return the name that an assignment binds; None if it has several targets, or one that is no name."""
    match statement.targets:
        case [cst.AssignTarget(target=cst.Name(value=name))]:
            return name
    return None


def root_node(frame: RunningCode) -> cst.CSTNode:
    """Return the syntax node of the code being run: the function's body, or the top-level statement of the module."""
    return frame.function.node.body if frame.function is not None else frame.unit.tree


def code_reading_name(frame: RunningCode, name: str) -> Iterator[cst.CSTNode]:
    """Yield the code in which a name may be read.

    That is the body of the function being run, otherwise the statements of the module's top level that mention the
    name.
    """

    if frame.function is not None:
        yield frame.function.node.body
        return
    for one in frame.module.index.statements:
        tree = one.tree_or_none if name in one.mentions or name in one.binds else None
        if tree is not None:
            yield tree


def _bound_by_head(node: cst.CSTNode) -> set[str]:
    """Return the names that a loop or comprehension itself binds for each iteration (`x` in `for x in xs`)."""
    match node:
        case cst.For():
            return set(names_bound_by(node))
        case cst.BaseComp(for_in=clause):
            return set(names_bound_by(clause))
    return set()


def _code_per_element(node: cst.CSTNode) -> Code:
    """Return the pieces of code that a loop or comprehension runs for each element; none for any other node."""
    match node:
        case cst.For(body=body, orelse=orelse):
            return [body, *([orelse] if orelse is not None else [])]
        case cst.BaseSimpleComp(elt=elt, for_in=clause):
            return [*_clause_expressions(clause), elt]
        case cst.DictComp(key=key, value=value, for_in=clause):
            return [*_clause_expressions(clause), key, value]
    return []


def _clause_expressions(clause: cst.CompFor) -> Iterator[cst.CSTNode]:
    """Yield the conditions of a comprehension's clauses, and the iterables of its inner `for` clauses."""
    yield from (one.test for one in clause.ifs)
    if clause.inner_for_in is not None:
        yield clause.inner_for_in.iter
        yield from _clause_expressions(clause.inner_for_in)
