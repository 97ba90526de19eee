"""Who else reads the value that a name holds: since it was bound, and until it is bound again, round the loop too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.flow.definitions import bound_by
from devlint.flow.liveness import loads, occurrences
from devlint.syntax.walk import children

if TYPE_CHECKING:
    from devlint.flow.run import Run

Code = Sequence[cst.CSTNode]


class Uses:
    """Answers about syntax, given once for each node that is asked about."""

    def __init__(self) -> None:
        self._paths: dict[cst.CSTNode, list[cst.CSTNode]] = {}
        self._only: dict[tuple[cst.CSTNode, str], bool] = {}
        self._later: dict[tuple[cst.CSTNode, str], bool] = {}
        self._once: dict[cst.CSTNode, bool] = {}

    def only_reader(self, run: Run, use: cst.CSTNode, name: str) -> bool:
        """Whether nothing but `use` reads the value that `name` holds there."""
        known = self._only.get((use, name))
        if known is None:
            own = set(loads(use, name))
            before, after = self._readers(run, use, name)
            known = bool(own) and own.issuperset(before) and own.issuperset(after)
            self._only[use, name] = known
        return known

    def read_later(self, run: Run, at: cst.CSTNode, name: str) -> bool:
        """Whether the value that `name` holds at `at` is read afterwards."""
        known = self._later.get((at, name))
        if known is None:
            known = self._later[at, name] = bool(self._readers(run, at, name)[1])
        return known

    def used_once(self, run: Run, node: cst.CSTNode) -> bool:
        """Whether the value of an expression goes one way only: what is bound to it, or to what is computed from it, is
        read once at most."""
        known = self._once.get(node)
        if known is None:
            known = self._once[node] = self._used_once(run, node)
        return known

    def _used_once(self, run: Run, node: cst.CSTNode) -> bool:
        statement = next((one for one in reversed(self._path(code_of(run), node)) if isinstance(one, cst.Assign)), None)
        if statement is None:
            return True
        match statement.targets:
            case [cst.AssignTarget(target=cst.Name(value=name))]:
                return len(self._readers(run, statement, name)[1]) <= 1
        return False

    def _path(self, code: Code, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes from a statement of the code down to `node`; empty where it is not there."""
        known = self._paths.get(node)
        if known is None:
            known = self._paths[node] = next((path for one in code if (path := _path_to(one, node))), [])
        return known

    def _readers(self, run: Run, at: cst.CSTNode, name: str) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
        """The reads of the value that `name` holds once `at` is done: those before, and those after."""
        code = code_of(run, name)
        path = self._path(code, at)
        binder = next((i for i in reversed(range(len(path) - 1)) if name in _bound_by_head(path[i])), None)
        if binder is not None:
            code, path = _repeated(path[binder]), path[binder + 1 :]
        seen = [one for part in code for one in occurrences(part, name, at)]
        position = next((i for i, (kind, _) in enumerate(seen) if kind == "mark"), None)
        if position is None:
            return [at], [at]
        before = seen[: position + 1]
        bound = max((i for i, (kind, _) in enumerate(before) if kind == "bind"), default=-1)
        after = _until_bound(seen[position + 1 :])
        start = seen[bound][1] if bound >= 0 else at
        for loop in path:
            if isinstance(loop, (cst.For, cst.While)) and _path_to(loop, start):
                after += _until_bound(list(occurrences(loop, name)))
        return [one for kind, one in before[bound + 1 :] if kind == "read"], list(dict.fromkeys(after))


def code_of(run: Run, name: str | None = None) -> Code:
    """The code being run: its function's body, or the module's statements (those that mention the name, if it is
    given)."""
    from devlint.flow.run import tree_of

    if run.function is not None:
        return [run.function.node.body]
    if name is None:
        return [run.unit.tree]
    units = [one for one in run.module.index.statements if name in one.mentions or name in one.binds]
    return [tree for one in units if (tree := tree_of(one)) is not None]


def _path_to(node: cst.CSTNode, wanted: cst.CSTNode) -> list[cst.CSTNode]:
    if node is wanted:
        return [node]
    for child in children(node):
        path = _path_to(child, wanted)
        if path:
            return [node, *path]
    return []


def _bound_by_head(node: cst.CSTNode) -> set[str]:
    """The names that a loop or a comprehension binds for what it runs over and over."""
    match node:
        case cst.For():
            return set(bound_by(node))
        case cst.ListComp(for_in=clause) | cst.SetComp(for_in=clause) | cst.GeneratorExp(for_in=clause):
            return set(bound_by(clause))
        case cst.DictComp(for_in=clause):
            return set(bound_by(clause))
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


def _until_bound(seen: Sequence[tuple[str, cst.CSTNode]]) -> list[cst.CSTNode]:
    end = next((i for i, (kind, _) in enumerate(seen) if kind == "bind"), len(seen))
    return [one for kind, one in seen[:end] if kind == "read"]
