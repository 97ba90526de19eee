"""The search for arguments with which a driver comes to what a finding says.

Drivers run in one process on the emulated device, one after the other. A driver that ran more lines of the project than
another is changed first. That is repeated until every finding is decided or the budget is spent.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from devlint.confirm.arguments import CALLING, Arguments, PlainText, TensorText, changed, tensors_of
from devlint.confirm.driver_process import Answer, DriverProcess, Evidence, Failure, NoAnswer
from devlint.confirm.driver_text import CallDriver
from devlint.confirm.guesses import SHAPES, Guesses
from devlint.confirm.needed_statements import needed_rows
from devlint.confirm.parameters import parameters_of, uses_of
from devlint.confirm.project_copy import ProjectCopy
from devlint.confirm.repairs import repairs
from devlint.confirm.source_files import Entry, Function, ProjectSources

TRIES = 160
"""The most drivers that are tried for one function."""
_NOT_IMPORTED = ("ModuleNotFoundError", "ImportError")


@dataclass(slots=True)
class Searched:
    """What a search has found: for each finding that was decided the driver that decides it; and why it ended.

    `best` is the driver that came farthest, with its answer; None if none could be run. `missing` is a package that is
    not installed, and `bare` tells that the process now holds packages without their content.
    """

    decided: dict[int, CallDriver] = field(default_factory=dict)
    best: tuple[CallDriver, Answer] | None = None
    missing: str | None = None
    stopped: str = ""
    tries: int = 0
    bare: bool = False


def is_seen(evidence: Evidence) -> bool:
    """Return whether a run shows the error that a finding claims, and not as the consequence of another."""
    seen = evidence.verdict == "confirmed" and evidence.raised is not None and evidence.at_place
    return seen and evidence.told and not evidence.after_going_on


class Search:
    """The search for drivers of one entry, until all is decided, or the answer of a driver is `enough`."""

    def __init__(
        self,
        sources: ProjectSources,
        guesses: Guesses,
        copy: ProjectCopy,
        process: DriverProcess,
        deadline: float,
        enough: Callable[[Answer], bool] = lambda answer: False,
    ) -> None:
        self._sources = sources
        self._guesses = guesses
        self._copy = copy
        self._process = process
        self._deadline = deadline
        self._enough = enough

    def drivers(self, entry: Entry, called: Function, wanted: Sequence[int], device: str, *, moves: bool) -> Searched:
        """Search drivers that decide the findings with some numbers, by calling a function or method.

        `moves` tells whether the drivers move modules and pass tensors on the accelerator.
        """
        found = Searched()
        starts = list(self._guesses.arguments(entry, called))
        is_module = entry.owner is not None and self._sources.is_module(entry.owner, entry.file)
        first = CallDriver(entry, called.name, self._sources.root, "", starts[0], is_module, moves, device)
        known = self._importable(first, found)
        if known is None:
            return found
        counter = itertools.count()
        waiting: list[tuple[int, int, CallDriver, Answer | None]] = []
        tried: set[str] = set()
        for arguments in starts:
            heapq.heappush(waiting, (-(10**6), next(counter), replace(known, arguments=arguments), None))
        while waiting and found.tries < TRIES:
            _, _, driver, _ = heapq.heappop(waiting)
            text = self._text(driver)
            if text in tried:
                continue
            tried.add(text)
            answer = self._run(driver, text, found)
            if answer is None:
                return found
            if found.best is None or self._score(answer, wanted) > self._score(found.best[1], wanted):
                found.best = driver, answer
            self._decide(driver, answer, wanted, found)
            if all(one in found.decided for one in wanted) or self._enough(answer):
                return found
            score = self._score(answer, wanted)
            for index, arguments in enumerate(itertools.islice(self._changes(driver, answer, called), 24)):
                entered = (-score + index // 4, next(counter), replace(driver, arguments=arguments), answer)
                heapq.heappush(waiting, entered)
        found.stopped = found.stopped or ("the tries are used up" if waiting else "there is nothing more to try")
        return found

    def _importable(self, first: CallDriver, found: Searched) -> CallDriver | None:
        """Return a driver that can import the entry's file; None, with the reason in `found`, if there is none.

        The last ways that are tried leave out what the packages around the file run when they are imported, and the
        statements of the file that the entry does not need.
        """
        entry = first.entry
        ways = list(itertools.islice(self._sources.import_names(entry.file), 4))
        bare = [(*way, count, ()) for way in ways for count in dict.fromkeys((1, way[1].count("."))) if count]
        tree = self._sources.tree(entry.file)
        named = entry.owner.name if entry.owner is not None else entry.function.name
        rows = needed_rows(tree, named) if tree is not None and entry.file.name != "__init__.py" else ()
        part = [(*way, count, rows) for way in ways[:2] for count in {0, way[1].count(".")} if rows]
        missing = None
        for folder, module, count, kept in [*((*way, 0, ()) for way in ways), *bare[:3], *part]:
            driver = replace(first, folder=folder, module=module, bare=count, rows=kept)
            answer = self._run(driver, self._text(driver), found)
            if answer is None:
                found.best = None
                return None
            if answer.error is None or self._is_imported(answer.error):
                found.bare, found.best = bool(count or kept), None
                return driver
            found.best = driver, answer
            name = (answer.error.missing or "").partition(".")[0]
            if name and not self._is_own(name):
                missing = name
        found.missing = missing
        if found.best is not None:
            found.stopped = f"the file cannot be imported: {found.best[1].error}"
        return None

    def _is_imported(self, error: Failure) -> bool:
        """Return whether a driver that ended with an error had imported the entry's file before.

        That is so if the error came through no statement outside of functions but the driver's own, or through none.
        """
        outside = [name for name, _, function in error.places if function == "<module>"]
        inside = [name for name in outside if self._copy.original(name) is not None]
        return not inside and error.type not in _NOT_IMPORTED

    def _is_own(self, name: str) -> bool:
        """Return whether a module or package of the project has a name."""
        return any(one.stem == name or name in one.relative_to(self._sources.root).parts for one in self._sources.files)

    def _text(self, driver: CallDriver) -> str:
        """Return the program of a driver that imports the project from its copy."""
        return driver.text(self._copy.root, self._copy.place)

    def _run(self, driver: CallDriver, text: str, found: Searched) -> Answer | None:
        """Run a driver, whose program is given, and return its answer.

        None, with the reason in `found`, if there is none in time.
        """
        if self._process.clock() > self._deadline:
            found.stopped = "the time is used up"
            return None
        found.tries += 1
        try:
            return self._process.run(
                {
                    "driver": text,
                    "name": f"driver_{found.tries}.py",
                    "folder": str(driver.folder),
                    "project": str(self._copy.place),
                }
            )
        except NoAnswer as reason:
            found.stopped = str(reason)
            return None

    def _decide(self, driver: CallDriver, answer: Answer, wanted: Sequence[int], found: Searched) -> None:
        """Keep a driver for the findings that it decides: it showed the error and went on, or it ran to its end."""
        fits = all(value.shape for value in driver.arguments.values() if isinstance(value, TensorText))
        for index in wanted:
            evidence = answer.evidence[index]
            shown = is_seen(evidence) and (evidence.ended or answer.error is None)
            refuted = evidence.held or evidence.verdict == "refuted"
            refuting = refuted and fits and answer.error is None and not evidence.errors
            if index not in found.decided and (shown or refuting):
                found.decided[index] = driver

    def _score(self, answer: Answer, wanted: Sequence[int]) -> int:
        """Return how far a driver came: lines that ran, and much more for the lines of findings."""
        reached = sum(answer.evidence[index].reached + answer.evidence[index].ended for index in wanted)
        seen = sum(is_seen(answer.evidence[index]) for index in wanted)
        return answer.ran + 50 * reached + 100 * seen + 20 * (answer.error is None)

    def _changes(self, driver: CallDriver, answer: Answer, called: Function) -> Iterator[Arguments]:
        """Yield the arguments to try after a driver: what its error suggests, more optional ones, other texts."""
        if answer.error is not None:
            near = self._names_near(answer.error, driver)
            yield from repairs(driver.arguments, answer.error, near, self._guesses.attribute)
        if not all(one.at_place or one.raised is None for one in answer.evidence):
            yield from self._numbers(driver.arguments)
        yield from self._optional(driver.arguments, called)
        yield from self._guesses.choices(driver.arguments)

    def _numbers(self, arguments: Arguments) -> Iterator[Arguments]:
        """Yield the arguments with a number for each tensor: what met a tensor on the host may be meant to be one."""
        for path in tensors_of(arguments):
            yield changed(arguments, path, PlainText("1"))

    def _optional(self, arguments: Arguments, called: Function) -> Iterator[Arguments]:
        """Yield the arguments with one more that the call may leave out."""
        for parameter in parameters_of(called, bound=False):
            path = (CALLING, parameter.name)
            if parameter.default is None or path in arguments:
                continue
            default = getattr(parameter.default, "value", ...)
            if isinstance(default, bool):
                yield {**arguments, path: PlainText(str(not default))}
            elif default is None:
                yield {**arguments, **self._guesses.guess(parameter, uses_of(called, parameter.name), path)}
                yield {**arguments, path: TensorText("float", SHAPES[3])}

    def _names_near(self, error: Failure, driver: CallDriver) -> frozenset[str]:
        """Return the names in the lines of the entry's file that an error came through, the innermost line's only."""
        for filename, line, _ in error.places:
            original = self._copy.original(filename)
            if original == driver.entry.file:
                lines = original.read_text(encoding="utf-8", errors="replace").splitlines()
                if 0 < line <= len(lines):
                    return frozenset(re.findall(r"[^\W\d]\w*", lines[line - 1]))
        return frozenset()
