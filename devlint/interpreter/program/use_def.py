"""Who else reads the value that a name holds: since it was bound, and until it is bound again, round the loop too."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo, names_bound_by
from devlint.interpreter.program.liveness import reads_of_name
from devlint.interpreter.program.name_events import NameEvent, NameEvents
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError
from devlint.syntax.tree_walk import children, descend

Code = Sequence[cst.CSTNode]


class RunningCode(Protocol):
    """The code being run: a function, or a statement of a module's top level."""

    function: FunctionInfo | None
    module: ModuleInfo
    unit: Statement


class UseDef:
    """Answers about syntax, given once for each node that is asked about."""

    def __init__(self) -> None:
        self._parents: dict[cst.CSTNode, dict[cst.CSTNode, cst.CSTNode]] = {}
        self._occurrences: dict[cst.CSTNode, NameEvents] = {}
        self._histories: dict[tuple[Hashable, str], _History] = {}
        self._only: dict[tuple[cst.CSTNode, str], bool] = {}
        self._later: dict[tuple[cst.CSTNode, str], bool] = {}
        self._once: dict[cst.CSTNode, bool] = {}

    def only_reader(self, frame: RunningCode, use: cst.CSTNode, name: str) -> bool:
        """Whether nothing but `use` reads the value that `name` holds there."""
        known = self._only.get((use, name))
        if known is None:
            own = set(reads_of_name(use, name))
            before, after = self._readers(frame, use, name)
            known = bool(own) and own.issuperset(before) and own.issuperset(after)
            self._only[use, name] = known
        return known

    def read_later(self, frame: RunningCode, at: cst.CSTNode, name: str) -> bool:
        """Whether the value that `name` holds at `at` is read afterwards."""
        known = self._later.get((at, name))
        if known is None:
            known = self._later[at, name] = bool(self._readers(frame, at, name)[1])
        return known

    def used_once(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        """Whether the value of an expression goes one way only: what is bound to it, or to what is computed from it, is
        read once at most."""
        known = self._once.get(node)
        if known is None:
            known = self._once[node] = self._used_once(frame, node)
        return known

    def _used_once(self, frame: RunningCode, node: cst.CSTNode) -> bool:
        statement = next(
            (one for one in reversed(self._path(root_node(frame), node)) if isinstance(one, cst.Assign)), None
        )
        if statement is None:
            return True
        match statement.targets:
            case [cst.AssignTarget(target=cst.Name(value=name))]:
                return len(self._readers(frame, statement, name)[1]) <= 1
        return False

    def _path(self, root: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes from the root of the code down to `node`; empty where it is not there."""
        parents = self._parents.get(root)
        if parents is None:
            inside = (root, *descend(root))
            parents = self._parents[root] = {child: parent for parent in inside for child in children(parent)}
        path = [node]
        while path[-1] is not root:
            above = parents.get(path[-1])
            if above is None:
                return []
            path.append(above)
        return path[::-1]

    def _occurrences_in(self, node: cst.CSTNode) -> NameEvents:
        found = self._occurrences.get(node)
        if found is None:
            found = self._occurrences[node] = NameEvents(node)
        return found

    def _history(self, key: Hashable, name: str, parts: Iterable[cst.CSTNode]) -> _History:
        """What becomes of a name in the code that the key stands for."""
        known = self._histories.get((key, name))
        if known is None:
            known = self._histories[key, name] = _History()
            for part in parts:
                known.begins[part] = len(known.events)
                known.events.extend(self._occurrences_in(part).of(name))
        return known

    def _readers(self, frame: RunningCode, at: cst.CSTNode, name: str) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
        """The reads of the value that `name` holds once `at` is done: those before, and those after."""
        root = root_node(frame)
        path = self._path(root, at)
        binder = next((i for i in reversed(range(len(path) - 1)) if name in _bound_by_head(path[i])), None)
        if binder is not None:
            loop, path = path[binder], path[binder + 1 :]
            history = self._history(("each", loop), name, _repeated(loop))
        else:
            history = self._history(frame.function or frame.module, name, code_reading_name(frame, name))
        part = next((one for one in path if one in history.begins), None)
        done = self._occurrences_in(part).before(at, name) if part is not None else None
        if part is None or done is None:
            return [at], [at]
        position = history.begins[part] + done
        bound = history.last_bound(position)
        after = history.reads_from(position)
        start = history.events[bound][1] if bound is not None else at
        around = self._path(root, start)
        for one in path:
            if isinstance(one, (cst.For, cst.While)) and one in around:
                after += self._history(one, name, [one]).reads_from(0)
        begun = 0 if bound is None else bound + 1
        return [one for kind, one in history.events[begun:position] if kind == "read"], list(dict.fromkeys(after))


@dataclass(slots=True)
class _History:
    """The occurrences of a name in the parts of some code, one part after the other; where each part begins."""

    events: list[NameEvent] = field(default_factory=list)
    begins: dict[cst.CSTNode, int] = field(default_factory=dict)

    def last_bound(self, position: int) -> int | None:
        """The last of the occurrences before a position that binds the name."""
        return next((i for i in reversed(range(position)) if self.events[i][0] == "bind"), None)

    def reads_from(self, position: int) -> list[cst.CSTNode]:
        """The reads from a position on, until the name is bound again."""
        found = []
        for i in range(position, len(self.events)):
            kind, node = self.events[i]
            if kind == "bind":
                break
            found.append(node)
        return found


def root_node(frame: RunningCode) -> cst.CSTNode:
    """The code being run: its function's body, or the module's statement."""
    return frame.function.node.body if frame.function is not None else frame.unit.tree


def code_reading_name(frame: RunningCode, name: str) -> Iterator[cst.CSTNode]:
    """The code in which a name may be read: its function's body, or the module's statements that mention it."""

    if frame.function is not None:
        yield frame.function.node.body
        return
    for one in frame.module.index.statements:
        tree = tree_or_none(one) if name in one.mentions or name in one.binds else None
        if tree is not None:
            yield tree


def _bound_by_head(node: cst.CSTNode) -> set[str]:
    """The names that a loop or a comprehension binds for what it runs over and over."""
    match node:
        case cst.For():
            return set(names_bound_by(node))
        case cst.ListComp(for_in=clause) | cst.SetComp(for_in=clause) | cst.GeneratorExp(for_in=clause):
            return set(names_bound_by(clause))
        case cst.DictComp(for_in=clause):
            return set(names_bound_by(clause))
    return set()


def _repeated(node: cst.CSTNode) -> Code:
    """What a loop or a comprehension runs for each element."""
    match node:
        case cst.For(body=body, orelse=orelse):
            return [body, *([orelse] if orelse is not None else [])]
        case cst.ListComp(elt=elt, for_in=clause) | cst.SetComp(elt=elt, for_in=clause):
            return [*_conditions(clause), elt]
        case cst.GeneratorExp(elt=elt, for_in=clause):
            return [*_conditions(clause), elt]
        case cst.DictComp(key=key, value=value, for_in=clause):
            return [*_conditions(clause), key, value]
    return []


def _conditions(clause: cst.CompFor) -> Iterator[cst.CSTNode]:
    yield from (one.test for one in clause.ifs)
    if clause.inner_for_in is not None:
        yield clause.inner_for_in.iter
        yield from _conditions(clause.inner_for_in)


def tree_or_none(unit: Statement) -> cst.CSTNode | None:
    """The statement's syntax tree; None where libcst cannot parse what Python can."""
    try:
        return unit.tree
    except SourceError:
        return None
