"""The analysis behind an editor: the open files, looked at again and again, with what has not changed kept."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.interpreter.driver.analysis import Engine
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.analysis_state import InternalError
from devlint.linter.deep_stack import roomy
from devlint.linter.diagnostics import broken, diagnostics_of
from devlint.linter.rule_loader import all_rules
from devlint.linter.rule_runner import Collector
from devlint.server.facts import Fact, Gauge, Scribe
from devlint.server.files import Files
from devlint.server.memory import Memory
from devlint.server.sights import Sights
from devlint.server.views import Glass, Places, View, places_of, shown_facts, texts_of
from devlint.server.walk import Walk
from devlint.syntax.index import Statement


@dataclass(frozen=True, slots=True)
class Job:
    """What to look at: the open texts by their resolved paths, and the settings of those that are to be reported.

    Nothing that was seen in another `epoch` holds any more. `survey` finds the files that are to be reported though
    they are not open, among others.
    """

    texts: Mapping[Path, str]
    settings: Mapping[Path, Settings]
    epoch: int = 0
    survey: Callable[[], Mapping[Path, Settings]] = dict


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the program has shown. `texts` are those of the files that findings tell of, by their names; it
    `is_whole` if it has left out none of the files that are to be reported."""

    views: Mapping[Path, View]
    texts: Mapping[str, str]
    errors: Sequence[InternalError]
    is_whole: bool = True


Tell: TypeAlias = Callable[[Look, bool], None]
"""Is told what was seen, and whether that is all, facts included."""


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
        self._gauge = Gauge()
        self._facts: dict[Statement, tuple[list[Sights], tuple[Fact, ...]]] = {}
        self._ground: object = None
        self._open: frozenset[Path] = frozenset()
        self._survey: tuple[int, Mapping[Path, Settings]] = -1, {}
        self._seen_whole: int | None = None

    def look(self, job: Job, ticket: Ticket, tell: Tell, progress: Callable[[int, int], None]) -> Look | None:
        """Analyse the program as it is now; None when called off on the way.

        What is seen is told as early as can be: findings while the facts about what has changed are still to be put
        into words, and what there is to see in open files while the others are looked at for the first time.
        """
        look = self._look_at_all(job, ticket, tell, progress)
        # Once the collector is awake again: it counts this as one of its own rounds, and does whole ones in time.
        gc.collect(1)
        return look

    @roomy
    def _look_at_all(self, job: Job, ticket: Ticket, tell: Tell, progress: Callable[[int, int], None]) -> Look | None:
        given = {**self._closed(job), **job.settings}
        if len(given) > len(job.settings) and self._seen_whole != job.epoch:
            self._look_at_open_files(job, given, ticket, tell)
        look = None if ticket.stopped else self._look(job, given, given, ticket, tell, progress)
        if look is not None:
            self._seen_whole = job.epoch
        return look

    def _closed(self, job: Job) -> Mapping[Path, Settings]:
        """The files to report that are not open."""
        if self._survey[0] != job.epoch:
            self._survey = job.epoch, job.survey()
        return {path: one for path, one in self._survey[1].items() if path not in job.texts and path.is_file()}

    def _look_at_open_files(self, job: Job, given: Mapping[Path, Settings], ticket: Ticket, tell: Tell) -> None:
        def tell_part(look: Look, done: bool) -> None:
            tell(replace(look, is_whole=False), done)

        look = self._look(job, given, job.settings, ticket, tell_part, lambda done, of: None)
        if look is not None:
            tell_part(look, True)

    def _look(
        self,
        job: Job,
        given: Mapping[Path, Settings],
        wanted: Mapping[Path, Settings],
        ticket: Ticket,
        tell: Tell,
        progress: Callable[[int, int], None],
    ) -> Look | None:
        """Look at those of the given files that are wanted now."""
        walk = self._set_out(job, given)
        ticket.holds(walk.engine)
        for done, path in enumerate(sorted(wanted)):
            progress(done, len(wanted))
            module = walk.program.load(path)
            if module is not None:
                walk.analyse(module)
        if ticket.stopped:
            walk.remember()
            return None
        diagnostics = diagnostics_of(walk.collector, walk.program, walk.engine.contained)
        errors = walk.engine.errors
        known = {unit: facts for unit, (_, facts) in self._facts.items()}
        tell(self._shown(wanted, diagnostics, known, errors), False)
        progress(len(wanted), len(wanted))
        walk.remember()
        facts = self._worded(walk.sights, ticket)
        self._sweep()
        return None if ticket.stopped else self._shown(wanted, diagnostics, facts, errors)

    def _set_out(self, job: Job, given: Mapping[Path, Settings]) -> Walk:
        """A walk through these files, with what is known of the program brought up to date."""
        self._memory.forget(self._files.open(job.texts))
        opened = job.texts.keys() - self._open
        self._open = frozenset(job.texts)
        settings = list({id(one): one for one in given.values()}.values())
        src = list(dict.fromkeys(folder for one in settings for folder in one.src if folder.is_dir()))
        models = list(dict.fromkeys(path for one in settings for path in one.models))
        ground = (job.epoch, frozenset(path.parent for path in given), tuple(src), tuple(models))
        if ground != self._ground:
            self._memory.clear()
            self._ground = ground
        elif opened:
            # What was seen of them on ways through other files was not kept as long as nobody could ask for it.
            self._memory.forget_ways_through(frozenset(self._files.statements(opened)))
        collector = Collector(all_rules(), frozenset[str]().union(*(one.codes for one in settings)))
        program = Program(
            [(path, path.as_posix()) for path in given],
            src,
            collector.broken,
            index=lambda path, name: self._files.index(path),
        )
        return Walk(program, collector, self._memory, models, self._files.statements(job.settings))

    def _shown(
        self,
        wanted: Mapping[Path, Settings],
        diagnostics: Sequence[Diagnostic],
        facts: Mapping[Statement, Sequence[Fact]],
        errors: Sequence[InternalError],
    ) -> Look:
        glass = Glass(lambda name: self._files.draft(Path(name)))
        places = places_of(facts, self._files)
        found: dict[str, list[Diagnostic]] = defaultdict(list)
        for one in glass.diagnostics(diagnostics):
            found[one.region.filename].append(one)
        views = {
            path: self._view(path, found[path.as_posix()], settings, facts, places) for path, settings in wanted.items()
        }
        return Look(views, texts_of(views.values(), places, self._files.text), errors)

    def _view(
        self,
        path: Path,
        found: list[Diagnostic],
        settings: Settings,
        facts: Mapping[Statement, Sequence[Fact]],
        places: Places,
    ) -> View:
        draft, name = self._files.draft(path), path.as_posix()
        if draft is not None and draft.is_patched and draft.error is not None:
            found.append(broken(name, draft.error))
        judged = (settings.judge(one, path) for one in found)
        shown = () if draft is None or draft.is_empty else tuple(shown_facts(draft, facts))
        return View(self._files.text(name), tuple(one for one in judged if one is not None), shown, places)

    def _worded(self, sights: Mapping[Statement, list[Sights]], ticket: Ticket) -> Mapping[Statement, Sequence[Fact]]:
        """What was seen, in words; those of a statement of which the same was seen before are kept."""
        scribe = Scribe(self._gauge)
        for unit, seen in sights.items():
            known = self._facts.get(unit)
            same = known is not None and len(known[0]) == len(seen) and all(map(_is, known[0], seen))
            if not same and not ticket.stopped:
                self._facts[unit] = seen, scribe.facts(unit, _merged(seen))
        return {unit: self._facts[unit][1] for unit in sights if unit in self._facts}

    def _sweep(self) -> None:
        """Let go of what is about statements that are no more."""
        living = set(self._files.statements())
        self._gauge.forget(living)
        for unit in self._facts.keys() - living:
            del self._facts[unit]


def _merged(seen: Sequence[Sights]) -> Sights:
    if len(seen) == 1:
        return seen[0]
    return {node: [one for sights in seen for one in sights.get(node, ())] for sights in seen for node in sights}


def _is(one: object, other: object) -> bool:
    return one is other
