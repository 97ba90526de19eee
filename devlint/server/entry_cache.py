"""Cache of the analysis results for each entry point of a program, with the rules for their invalidation.

An entry point is where the analysis starts: a function, a class, or the top-level code of a file.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.passed_arguments import PassedByCall
from devlint.interpreter.state.private_call_sites import HostData, HostDataKey
from devlint.interpreter.state.torch_defaults import FileDefaults
from devlint.server.dependencies import Dependencies
from devlint.server.observed_values import ObservedValues
from devlint.syntax.index import Statement


@dataclass(frozen=True, slots=True)
class GlobalEffects:
    """The changes that the analysis of one entry point makes to state which the analyses of later entry points share.

    The shared state consists of torch's default device and dtype in each file, the set of functions that were run, what
    calls pass from the host on purpose, and what they pass for each parameter.
    """

    defaults: Mapping[Path, FileDefaults]
    executed_nodes: frozenset[cst.CSTNode] = frozenset()
    host_data: Mapping[HostDataKey, HostData] = field(default_factory=dict)
    passed: Mapping[FunctionInfo, Mapping[Hashable, PassedByCall]] = field(default_factory=dict)

    @classmethod
    def capture(cls, analysis: Analysis) -> GlobalEffects:
        """Return the shared state of the given analysis as it is now; of the calls, those since the last capture."""
        recorded = analysis.private_call_sites.take_recorded()
        passed = analysis.passed_arguments.take_recorded()
        return cls(dict(analysis.torch_defaults.by_file), frozenset(analysis.executed_nodes), recorded, passed)

    def since(self, earlier: GlobalEffects) -> GlobalEffects:
        """Return only the changes that lead from an earlier captured state to this captured state."""
        changed = {path: one for path, one in self.defaults.items() if earlier.defaults.get(path) != one}
        return GlobalEffects(changed, self.executed_nodes - earlier.executed_nodes, self.host_data, self.passed)

    def apply(self, analysis: Analysis) -> None:
        """Make the recorded changes to the shared state of the given analysis."""
        analysis.torch_defaults.by_file.update(self.defaults)
        analysis.executed_nodes |= self.executed_nodes
        for key, passed in self.host_data.items():
            analysis.private_call_sites.add_host_data(key, passed)
        analysis.passed_arguments.add(self.passed)


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result of analysing one entry point: its events, the recorded values, and its effects on shared state.

    `events` are what happened to tensors; the rules receive them. `observed` has the recorded values of expressions.
    `preconditions` is the shared state on which the analysis depended. `was_analysed` is False for an entry point that
    was skipped because nothing in it concerns tensors.
    """

    events: Sequence[Event]
    observed: Mapping[Statement, ObservedValues]
    preconditions: object
    effects: GlobalEffects
    was_analysed: bool = True


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """The cached result of analysing one entry point, with the statements and modules on which that result depends."""

    result: EntryResult
    dependencies: Dependencies


@dataclass(frozen=True, slots=True)
class StatementDelta:
    """A change of one file: the top-level statements that were removed from it, and those that were added to it."""

    path: Path
    removed: frozenset[Statement]
    added: frozenset[Statement]


class EntryCache:
    """A cache of the results of analysing a program from each of its entry points.

    An entry point is a function, a class or the top-level code of a file. The key of a function or class is its
    top-level statement. The key of a file's top-level code is the file's path.
    """

    def __init__(self) -> None:
        self._entries: dict[Statement | Path, CacheEntry] = {}

    def find(self, key: Statement | Path) -> CacheEntry | None:
        """Return the cached result of the entry point with the given key, or None if there is none."""
        return self._entries.get(key)

    def store(self, key: Statement | Path, entry: CacheEntry) -> None:
        """Add or replace the cached result of an entry point."""
        self._entries[key] = entry

    def clear(self) -> None:
        """Remove all cached results."""
        self._entries.clear()

    def drop_reaching(self, statements: frozenset[Statement]) -> None:
        """Remove the cached results that depend on any of the given top-level statements."""
        stale = [
            key for key, entry in self._entries.items() if not statements.isdisjoint(entry.dependencies.statements)
        ]
        for key in stale:
            del self._entries[key]

    def invalidate(self, deltas: Collection[StatementDelta]) -> None:
        """Remove the cached results that the given changes of the program's top-level statements may make stale."""
        for delta in deltas:
            lost = _bound_names(delta.removed)
            new = _bound_names(delta.added)
            appeared, gone = new - lost, delta.removed
            changes_objects = any(not one.binds for one in (*delta.added, *delta.removed)) or appeared
            stale = [
                key
                for key, entry in self._entries.items()
                if key in gone
                or not gone.isdisjoint(entry.dependencies.statements)
                or (changes_objects and delta.path in entry.dependencies.mutable_modules)
                or (key == delta.path and any(one.kind not in ("function", "class") for one in delta.added))
                or (appeared and any(not appeared.isdisjoint(one.mentions) for one in entry.dependencies.statements))
            ]
            for key in stale:
                del self._entries[key]


def _bound_names(statements: Collection[Statement]) -> frozenset[str]:
    """Return all names that the given top-level statements bind or declare `global`."""
    return frozenset().union(*(one.binds | one.globals for one in statements))
