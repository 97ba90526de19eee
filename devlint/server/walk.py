"""One walk through the program, by all ways that lead into it, with what earlier walks have seen where that holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from devlint.interpreter.driver.analysis import Engine
from devlint.interpreter.driver.entry_points import enter, run_file
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.events import Event
from devlint.linter.rule_runner import Collector
from devlint.server.dependencies import Dependencies
from devlint.server.memory import Memory, Record, Trip, Weather
from devlint.server.sights import Recorder, Sights
from devlint.syntax.index import Statement


class Walk:
    """One walk through the program, by all ways that lead into it: again, or as remembered."""

    def __init__(
        self,
        program: Program,
        collector: Collector,
        memory: Memory,
        models: Sequence[Path],
        watched: Iterable[Statement],
    ) -> None:
        """What is seen of `watched` statements is kept."""
        self.program = program
        self.collector = collector
        self._memory = memory
        self._events: list[Event] = []
        self._watched = frozenset(watched)
        self._recorder = Recorder(self._watched)
        self._fresh: list[tuple[ModuleInfo, Statement | None, Trip]] = []
        self.engine = Engine(program, self._hear, models, self._recorder)
        self.sights: dict[Statement, list[Sights]] = defaultdict(list)

    def analyse(self, module: ModuleInfo) -> None:
        """Go all ways into one file."""
        ways = [unit for unit in module.index.statements if unit.kind in ("function", "class")]
        whole = self._valid(module.path, module, None)
        if whole is not None and all(self._memory.find(unit) is not None for unit in ways):
            self._replay(whole)
        else:
            self._go(module, None, lambda: self._run(module))
        for unit in ways:
            if self.engine.abandoned:
                return
            record = self._valid(unit, module, unit)
            if record is not None:
                self._replay(record)
            else:
                self._go(module, unit, lambda unit=unit: enter(self.engine, module, unit))  # type: ignore[misc]

    def _run(self, module: ModuleInfo) -> bool:
        run_file(self.engine, module)
        return True

    def remember(self) -> None:
        """Keep what was found out on this walk."""
        dependencies = Dependencies(self.program)
        for module, unit, trip in self._fresh:
            others = [one for one in module.index.statements if one.kind not in ("function", "class")]
            if unit is None:
                needs = dependencies.of(module, others)
            elif trip.mattered:
                needs = dependencies.of(module, [unit])
            else:
                needs = dependencies.of_mentions(module, unit)
            self._memory.keep(unit or module.path, Record(trip, needs))

    def _go(self, module: ModuleInfo, unit: Statement | None, way: Callable[[], bool]) -> None:
        engine = self.engine
        before, weather, spilled = self._before(module, unit), Weather.now(engine), engine.spilled
        self._events = []
        mattered = way()
        events, sights = self._events, self._recorder.taken()
        self._show(sights)
        if engine.abandoned or spilled != engine.spilled:
            return
        after = Weather.now(engine).since(weather)
        self._fresh.append((module, unit, Trip(events, sights, before, after, mattered)))

    def _valid(self, way: Statement | Path, module: ModuleInfo, unit: Statement | None) -> Record | None:
        record = self._memory.find(way)
        return record if record is not None and record.trip.before == self._before(module, unit) else None

    def _before(self, module: ModuleInfo, unit: Statement | None) -> object:
        """What a way into the program finds there that is not part of the text."""
        engine = self.engine
        ran = unit is not None and unit.kind == "function" and unit.is_parsed and unit.tree in engine.ran
        return engine.torch_defaults.holding_in(self.program, module), ran

    def _replay(self, record: Record) -> None:
        trip = record.trip
        for event in trip.events:
            self.collector.hear(event)
        trip.after.apply(self.engine)
        self._show(trip.sights)

    def _show(self, sights: Mapping[Statement, Sights]) -> None:
        for unit, seen in sights.items():
            if unit in self._watched:
                self.sights[unit].append(seen)

    def _hear(self, event: Event) -> None:
        self._events.append(event)
        self.collector.hear(event)
