"""What earlier looks at the program have shown, as long as nothing that they depend on has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from devlint.interpreter.driver.analysis import Engine
from devlint.interpreter.state.events import Event
from devlint.interpreter.state.torch_defaults import Defaults
from devlint.server.dependencies import Needs
from devlint.server.sights import Sights
from devlint.syntax.index import Statement


@dataclass(frozen=True, slots=True)
class Weather:
    """What one way into the program leaves to the next besides its findings: torch's defaults, and what has been
    run."""

    defaults: Mapping[Path, Defaults]
    ran: frozenset[cst.CSTNode] = frozenset()

    @classmethod
    def now(cls, engine: Engine) -> Weather:
        """As it is."""
        return cls(dict(engine.torch_defaults.by_file), frozenset(engine.ran))

    def since(self, before: Weather) -> Weather:
        """What has come of it since."""
        changed = {path: one for path, one in self.defaults.items() if before.defaults.get(path) != one}
        return Weather(changed, self.ran - before.ran)

    def apply(self, engine: Engine) -> None:
        """Leave the same."""
        engine.torch_defaults.by_file.update(self.defaults)
        engine.ran |= self.ran


@dataclass(frozen=True, slots=True)
class Trip:
    """One way into the program: what was heard and seen on it, what it found `before`, and what it left `after`.
    What does not matter was not gone into."""

    events: Sequence[Event]
    sights: Mapping[Statement, Sights]
    before: object
    after: Weather
    mattered: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """A trip that need not be made again as long as nothing that it needs has changed."""

    trip: Trip
    needs: Needs


@dataclass(frozen=True, slots=True)
class Delta:
    """The top-level statements that a file has lost, and those that are new."""

    path: Path
    removed: frozenset[Statement]
    added: frozenset[Statement]


class Memory:
    """Records by the statement that is the way in; of a whole file as it runs, by its path."""

    def __init__(self) -> None:
        self._records: dict[Statement | Path, Record] = {}

    def find(self, way: Statement | Path) -> Record | None:
        """What is known, if it still holds."""
        return self._records.get(way)

    def keep(self, way: Statement | Path, record: Record) -> None:
        """Remember."""
        self._records[way] = record

    def clear(self) -> None:
        """Forget everything."""
        self._records.clear()

    def forget_ways_through(self, units: frozenset[Statement]) -> None:
        """Forget what may have been seen in these statements."""
        stale = [way for way, record in self._records.items() if not units.isdisjoint(record.needs.units)]
        for way in stale:
            del self._records[way]

    def forget(self, deltas: Collection[Delta]) -> None:
        """Forget what may not hold any more."""
        for delta in deltas:
            lost = _names(delta.removed)
            new = _names(delta.added)
            appeared, gone = new - lost, delta.removed
            stirred = any(not unit.binds for unit in (*delta.added, *delta.removed)) or appeared
            stale = [
                way
                for way, record in self._records.items()
                if way in gone
                or not gone.isdisjoint(record.needs.units)
                or (stirred and delta.path in record.needs.sways)
                or (way == delta.path and any(unit.kind not in ("function", "class") for unit in delta.added))
                or (appeared and any(not appeared.isdisjoint(unit.mentions) for unit in record.needs.units))
            ]
            for way in stale:
                del self._records[way]


def _names(units: Collection[Statement]) -> frozenset[str]:
    return frozenset().union(*(unit.binds | unit.globals for unit in units))
