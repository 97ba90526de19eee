"""The analysis behind an editor: the open files, looked at again and again, with what has not changed kept."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.analysis import room_to_work
from devlint.collector import Collector
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.flow.code.definitions import ModuleInfo
from devlint.flow.code.program import Program
from devlint.flow.engine import Engine, InternalError
from devlint.flow.entries import enter, run_file
from devlint.flow.events import Event
from devlint.registry import all_rules
from devlint.report import broken, diagnostics_of
from devlint.server.dependencies import Dependencies
from devlint.server.facts import Fact, Places, Scribe
from devlint.server.files import Files
from devlint.server.memory import Memory, Record, Trip, Weather
from devlint.server.sights import Recorder, Sights
from devlint.server.views import Glass, View, rows_of, shown_facts, texts_of
from devlint.syntax.index import Statement


@dataclass(frozen=True, slots=True)
class Job:
    """What to look at: the open texts by their resolved paths, and the settings of those that are to be reported.

    Nothing that was seen in another `epoch` holds any more.
    """

    texts: Mapping[Path, str]
    settings: Mapping[Path, Settings]
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the program has shown. `texts` are those of the files that findings tell of, by their names."""

    views: Mapping[Path, View]
    texts: Mapping[str, str]
    errors: Sequence[InternalError]


class Ticket:
    """Stands for one look, so that another thread can call it off."""

    def __init__(self) -> None:
        self.stopped = False
        self._engine: Engine | None = None

    def stop(self) -> None:
        """Nobody wants to see it any more."""
        self.stopped = True
        if self._engine is not None:
            self._engine.abandon()

    def holds(self, engine: Engine) -> None:
        """This is the analysis to call off."""
        self._engine = engine
        if self.stopped:
            engine.abandon()


class Session:
    """Looks at the program, one look after another."""

    def __init__(self) -> None:
        self._files = Files()
        self._memory = Memory()
        self._places = Places()
        self._facts: dict[Statement, tuple[list[Sights], tuple[Fact, ...]]] = {}
        self._ground: object = None

    def look(
        self, job: Job, ticket: Ticket, early: Callable[[Look], None], progress: Callable[[int, int], None]
    ) -> Look | None:
        """Analyse the program as it is now; None when called off on the way.

        Findings are told `early`, while the facts about what has changed are still to be put into words.
        """
        with room_to_work():
            look = self._look(job, ticket, early, progress)
        gc.collect(1)
        return look

    def _look(
        self, job: Job, ticket: Ticket, early: Callable[[Look], None], progress: Callable[[int, int], None]
    ) -> Look | None:
        self._memory.forget(self._files.open(job.texts))
        settings = list({id(one): one for one in job.settings.values()}.values())
        src = list(dict.fromkeys(folder for one in settings for folder in one.src if folder.is_dir()))
        models = list(dict.fromkeys(path for one in settings for path in one.models))
        ground = (job.epoch, frozenset(path.parent for path in job.settings), tuple(src), tuple(models))
        if ground != self._ground:
            self._memory.clear()
            self._ground = ground
        collector = Collector(all_rules(), frozenset[str]().union(*(one.codes for one in settings)))
        program = Program(
            [(path, path.as_posix()) for path in job.settings],
            src,
            collector.broken,
            index=lambda path, name: self._files.index(path),
        )
        walk = _Walk(program, collector, self._memory, models)
        ticket.holds(walk.engine)
        for done, path in enumerate(program.given):
            progress(done, len(job.settings))
            module = program.load(path)
            if module is not None:
                walk.analyse(module)
        if ticket.stopped:
            walk.remember()
            return None
        diagnostics = diagnostics_of(collector, program, walk.engine.contained)
        errors = walk.engine.errors
        known = {unit: facts for unit, (_, facts) in self._facts.items()}
        early(self._shown(job, diagnostics, known, errors))
        progress(len(job.settings), len(job.settings))
        walk.remember()
        facts = self._worded(walk.sights, ticket)
        self._sweep()
        return None if ticket.stopped else self._shown(job, diagnostics, facts, errors)

    def _shown(
        self,
        job: Job,
        diagnostics: Sequence[Diagnostic],
        facts: Mapping[Statement, Sequence[Fact]],
        errors: Sequence[InternalError],
    ) -> Look:
        glass = Glass(lambda name: self._files.draft(Path(name)))
        rows = rows_of(facts, self._files)
        views = {path: self._view(path, diagnostics, one, glass, facts, rows) for path, one in job.settings.items()}
        return Look(views, texts_of(views.values(), self._files.text), errors)

    def _view(
        self,
        path: Path,
        diagnostics: Sequence[Diagnostic],
        settings: Settings,
        glass: Glass,
        facts: Mapping[Statement, Sequence[Fact]],
        rows: Mapping[tuple[Statement, int], int],
    ) -> View:
        draft = self._files.draft(path)
        assert draft is not None
        name = path.as_posix()
        found = [*glass.diagnostics(one for one in diagnostics if one.region.filename == name)]
        if draft.is_patched and draft.error is not None:
            found.append(broken(name, draft.error))
        judged = (settings.judge(one, path) for one in found)
        shown = () if draft.is_empty else tuple(shown_facts(draft, facts))
        return View(draft.text, tuple(one for one in judged if one is not None), shown, rows)

    def _worded(self, sights: Mapping[Statement, list[Sights]], ticket: Ticket) -> Mapping[Statement, Sequence[Fact]]:
        """What was seen, in words; those of a statement of which the same was seen before are kept."""
        scribe = Scribe(self._places)
        for unit, seen in sights.items():
            known = self._facts.get(unit)
            same = known is not None and len(known[0]) == len(seen) and all(map(_is, known[0], seen))
            if not same and not ticket.stopped:
                self._facts[unit] = seen, scribe.facts(unit, _merged(seen))
        return {unit: self._facts[unit][1] for unit in sights if unit in self._facts}

    def _sweep(self) -> None:
        """Let go of what is about statements that are no more."""
        living = set(self._files.statements())
        self._places.forget(living)
        for unit in self._facts.keys() - living:
            del self._facts[unit]


class _Walk:
    """One walk through the program, by all ways that lead into it: again, or as remembered."""

    def __init__(self, program: Program, collector: Collector, memory: Memory, models: Sequence[Path]) -> None:
        self._program = program
        self._collector = collector
        self._memory = memory
        self._events: list[Event] = []
        given = [module for path in program.given if (module := program.load(path)) is not None]
        self._recorder = Recorder([unit for module in given for unit in module.index.statements])
        self._fresh: list[tuple[ModuleInfo, Statement | None, Trip]] = []
        self.engine = Engine(program, self._hear, models, self._recorder)
        self.sights: dict[Statement, list[Sights]] = defaultdict(list)

    def analyse(self, module: ModuleInfo) -> None:
        """Go all ways into one file."""
        ways = [unit for unit in module.index.statements if unit.kind in ("function", "class")]
        whole = self._valid(module.path, None)
        if whole is not None and all(self._memory.find(unit) is not None for unit in ways):
            self._replay(whole)
        else:
            self._go(module, None, lambda: self._run(module))
        for unit in ways:
            if self.engine.abandoned:
                return
            record = self._valid(unit, unit)
            if record is not None:
                self._replay(record)
            else:
                self._go(module, unit, lambda unit=unit: enter(self.engine, module, unit))  # type: ignore[misc]

    def _run(self, module: ModuleInfo) -> bool:
        run_file(self.engine, module)
        return True

    def remember(self) -> None:
        """Keep what was found out on this walk."""
        dependencies = Dependencies(self._program)
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
        before, weather, spilled = self._before(unit), Weather.now(engine), engine.spilled
        self._events = []
        mattered = way()
        events, sights = self._events, self._recorder.taken()
        self._show(sights)
        if engine.abandoned or spilled != engine.spilled:
            return
        after = Weather.now(engine).since(weather)
        self._fresh.append((module, unit, Trip(events, sights, before, after, mattered)))

    def _valid(self, way: Statement | Path, unit: Statement | None) -> Record | None:
        record = self._memory.find(way)
        return record if record is not None and record.trip.before == self._before(unit) else None

    def _before(self, unit: Statement | None) -> object:
        """What a way into the program finds there that is not part of the text."""
        engine = self.engine
        ran = unit is not None and unit.kind == "function" and unit.is_parsed and unit.tree in engine.ran
        return engine.default_device, engine.default_dtype, ran

    def _replay(self, record: Record) -> None:
        trip = record.trip
        for event in trip.events:
            self._collector.hear(event)
        trip.after.apply(self.engine)
        self._show(trip.sights)

    def _show(self, sights: Mapping[Statement, Sights]) -> None:
        for unit, seen in sights.items():
            self.sights[unit].append(seen)

    def _hear(self, event: Event) -> None:
        self._events.append(event)
        self._collector.hear(event)


def _merged(seen: Sequence[Sights]) -> Sights:
    if len(seen) == 1:
        return seen[0]
    return {node: [one for sights in seen for one in sights.get(node, ())] for sights in seen for node in sights}


def _is(one: object, other: object) -> bool:
    return one is other
