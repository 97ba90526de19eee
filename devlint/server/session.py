"""The analysis behind an editor: the open files, looked at again and again, with what has not changed kept."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.analysis import room_to_work
from devlint.collector import Collector
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.flow.engine import Engine, InternalError
from devlint.flow.entries import analyse_module
from devlint.flow.program import Program
from devlint.registry import all_rules
from devlint.report import broken, diagnostics_of
from devlint.server.files import Files
from devlint.server.views import Glass, View, texts_of


@dataclass(frozen=True, slots=True)
class Job:
    """What to look at: the open texts by their resolved paths, and the settings of those that are to be reported."""

    texts: Mapping[Path, str]
    settings: Mapping[Path, Settings]


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

    def look(self, job: Job, ticket: Ticket, progress: Callable[[int, int], None]) -> Look | None:
        """Analyse the program as it is now; None when called off on the way."""
        with room_to_work():
            look = self._look(job, ticket, progress)
        gc.collect(1)
        return look

    def _look(self, job: Job, ticket: Ticket, progress: Callable[[int, int], None]) -> Look | None:
        self._files.open(job.texts)
        settings = list({id(one): one for one in job.settings.values()}.values())
        collector = Collector(all_rules(), frozenset[str]().union(*(one.codes for one in settings)))
        program = Program(
            [(path, path.as_posix()) for path in job.settings],
            list(dict.fromkeys(folder for one in settings for folder in one.src if folder.is_dir())),
            collector.broken,
            index=lambda path, name: self._files.index(path),
        )
        models = list(dict.fromkeys(path for one in settings for path in one.models))
        engine = Engine(program, collector.hear, models)
        ticket.holds(engine)
        for done, path in enumerate(program.given):
            progress(done, len(job.settings))
            module = program.load(path)
            if module is not None:
                analyse_module(engine, module)
            if ticket.stopped:
                return None
        diagnostics = diagnostics_of(collector, program)
        progress(len(job.settings), len(job.settings))
        glass = Glass(lambda name: self._files.draft(Path(name)))
        views = {path: self._view(path, diagnostics, one, glass) for path, one in job.settings.items()}
        return Look(views, texts_of(views.values(), self._files.text), engine.errors)

    def _view(self, path: Path, diagnostics: Sequence[Diagnostic], settings: Settings, glass: Glass) -> View:
        draft = self._files.draft(path)
        assert draft is not None
        name = path.as_posix()
        found = [*glass.diagnostics(one for one in diagnostics if one.region.filename == name)]
        if draft.is_patched and draft.error is not None:
            found.append(broken(name, draft.error))
        judged = (settings.judge(one, path) for one in found)
        return View(draft.text, tuple(one for one in judged if one is not None))
