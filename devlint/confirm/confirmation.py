"""The confirmation of findings: for each, a driver is made and run, and a verdict given."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from devlint.confirm.default_devices import OF_FACTORIES, default_device_setter
from devlint.confirm.driver_process import (
    DRIVERS,
    TESTS,
    Answer,
    Claim,
    DriverProcess,
    Evidence,
    Limits,
    NoAnswer,
    driver_process,
)
from devlint.confirm.driver_text import CallDriver
from devlint.confirm.entries import Call, calls_for, project_callers
from devlint.confirm.guesses import Guesses
from devlint.confirm.judgement import Judgement, Verdict, judge, supposes_moves
from devlint.confirm.literals import literals_of
from devlint.confirm.own_drivers import MADE, OwnDriver, import_folders, own_drivers
from devlint.confirm.project_copy import ProjectCopy, project_copy
from devlint.confirm.search import Search, Searched
from devlint.confirm.source_files import ProjectSources, project_root
from devlint.diagnostic import Diagnostic
from devlint.runtime.failure_places import failure_region

CODES = frozenset({"DEV101", "DEV102", "DEV103", "DEV104", "DEV105", "DEV106"})
"""The rules whose findings are confirmed."""
DEFAULT_LIMITS = Limits(60, 8192)
SEARCHED_ON = "emulated"
"""The device on which drivers are searched; the one that was asked for runs them once more."""
_CALLS = 4
"""The most functions that are tried for one finding."""
_CALLERS = 2
"""The most functions of the project that are asked what they pass to one that a driver has called."""
_SECONDS_FOR_CALLERS = 15
"""The time for each of them."""


@dataclass(frozen=True, slots=True)
class ConfirmOptions:
    """What a user asks of a confirmation: the device, the limits of each process, and who is told what is run.

    `folders` are those that the user has named; they tell what belongs together where nothing else does.
    """

    device: str = "emulated"
    limits: Limits = DEFAULT_LIMITS
    say: Callable[[str], None] = lambda text: None
    folders: tuple[Path, ...] = ()


def confirm_findings(findings: Sequence[Diagnostic], options: ConfirmOptions) -> list[Judgement]:
    """Return a judgement on each finding, in their order."""
    by_root: dict[Path, list[int]] = {}
    given = [Path(os.path.realpath(one)) for one in options.folders]
    for index, finding in enumerate(findings):
        root = project_root(Path(os.path.realpath(finding.region.filename)), given)
        by_root.setdefault(root, []).append(index)
    found: dict[int, Judgement] = {}
    for root, indexes in by_root.items():
        with project_copy(root) as copy:
            done = _Project(copy, [findings[index] for index in indexes], options).judgements()
            found.update(zip(indexes, done, strict=True))
    return [found[index] for index in range(len(findings))]


class _Project:
    """The confirmation of the findings of one project."""

    def __init__(self, copy: ProjectCopy, findings: Sequence[Diagnostic], options: ConfirmOptions) -> None:
        self._copy = copy
        self._findings = findings
        self._options = options
        self._sources = ProjectSources(copy.root)
        self._claims = [self._claim(one) for one in findings]
        self._guesses = Guesses(self._sources, literals_of(self._sources))
        self._judged: dict[int, Judgement] = {}
        self._tried: set[int] = set()
        self._process: DriverProcess | None = None

    def _claim(self, finding: Diagnostic) -> Claim:
        """Return a finding as one about the copy, with the places of its story that run when a function is called.

        Parameters do not run, and statements outside of functions run when the file is imported.
        """
        moved, story, skippable = self._copy.moved(finding), [], False
        for old, new in [
            (finding.region, moved.region),
            *((one.region, other.region) for one, other in zip(finding.trace, moved.trace, strict=True)),
        ]:
            path = Path(os.path.realpath(old.filename))
            if self._sources.runs_in_call(path, old.start.row):
                story.append((new.filename, new.start.row, new.end.row))
                skippable |= self._sources.may_be_skipped(path, old.start.row, old.start.column)
        return Claim(moved, tuple(story), skippable)

    def judgements(self) -> list[Judgement]:
        """Return a judgement on each finding of the project."""
        try:
            self._search()
        finally:
            self._end_process()
        return [self._judged[index] for index in range(len(self._findings))]

    def _search(self) -> None:
        """Search drivers for all findings, first by the function that suits each best, and then by others."""
        calls = [self._calls(index) for index in range(len(self._findings))]
        for level in range(_CALLS):
            groups: dict[tuple[Path, str, str, bool], tuple[Call, list[int]]] = {}
            for index, known in enumerate(calls):
                if level < len(known) and not self._is_decided(index):
                    entry, called = known[level]
                    key = (entry.file, entry.name, called.name, supposes_moves(self._findings[index]))
                    groups.setdefault(key, ((entry, called), []))[1].append(index)
            for (*_, moves), (call, wanted) in groups.items():
                if level == 0:
                    self._try_own(call, wanted, moves=moves)
                self._try_call(call, [one for one in wanted if not self._is_decided(one)], moves=moves)

    def _calls(self, index: int) -> list[Call]:
        """Return what may be called for a finding; nothing, with the reason in its judgement, if nothing can be."""
        finding = self._findings[index]
        calls: list[Call] = []
        if finding.region.cell is not None:
            reason = "it is in a notebook"
        else:
            calls = calls_for(finding, self._sources)
            reason = self._why_not_called(finding)
        self._judged[index] = Judgement(finding, Verdict.NOT_BUILDABLE, reason)
        return calls

    def _why_not_called(self, finding: Diagnostic) -> str:
        """Return why a driver cannot call the code of a finding, and what runs it."""
        where = failure_region(finding)
        if self._sources.runs_in_call(Path(os.path.realpath(where.filename)), where.start.row):
            return "it is in no function that could be called"
        return f"it is in no function: run its file with `{shlex.join(('devlint', 'run', where.filename))}`"

    def _is_decided(self, index: int) -> bool:
        return self._judged[index].verdict in (Verdict.CONFIRMED, Verdict.REFUTED)

    def _try_own(self, call: Call, wanted: list[int], *, moves: bool) -> None:
        """Judge findings by the drivers that the project offers for a function, as far as these reach them.

        `moves` tells whether the findings suppose that modules and tensors are moved. Without pytest there is nothing.
        """
        if find_spec("pytest") is None:
            return
        entry, called = call
        device = self._options.device
        movable = moves and device.startswith(SEARCHED_ON)
        modes = (device, device.replace(SEARCHED_ON, "move")) if movable else (device,)
        paths = import_folders(entry, self._sources, self._copy.place)
        for driver in own_drivers(entry, called, self._sources):
            if driver.text:
                (self._copy.place / MADE).write_text(driver.text, encoding="utf-8")
            for mode in modes:
                left = [one for one in wanted if not self._is_decided(one)]
                if not left:
                    return
                self._options.say(f"running what the project offers:\n{driver.shown(mode)}")
                with (
                    driver_process(
                        TESTS, device, self._claims, self._copy.place, self._options.limits, paths
                    ) as process,
                    suppress(NoAnswer),
                ):
                    answer = process.run({"tests": [f"--devlint={mode}", *driver.selected]})
                    for index in left if answer.evidence else ():
                        self._judge_by_own(index, answer.evidence[index], driver, mode)

    def _judge_by_own(self, index: int, evidence: Evidence, driver: OwnDriver, mode: str) -> None:
        """Judge a finding by what tests show. They confirm; only operands that torch allowed refute.

        The places of a story may have run in different tests, so that this alone refutes nothing, and an error that
        came first may be another test's.
        """
        verdict, reason = judge(self._findings[index], replace(evidence, held=False, behind=False), None)
        if verdict is Verdict.CONFIRMED:
            place = self._copy.original(evidence.filename or "")
            self._judged[index] = Judgement(
                self._findings[index],
                verdict,
                reason,
                driver.shown(mode),
                driver.origin,
                evidence.detail,
                str(place),
                evidence.row,
            )
        elif verdict is Verdict.REFUTED:
            self._judged[index] = Judgement(self._findings[index], verdict, reason, driver.shown(mode), driver.origin)

    def _try_call(self, call: Call, wanted: list[int], *, moves: bool) -> None:
        """Search drivers that call a function, and judge the wanted findings by them."""
        if not wanted:
            return
        self._judge(self._searched(call, wanted, self._options.limits.seconds, moves=moves), wanted)

    def _searched(
        self,
        call: Call,
        wanted: list[int],
        seconds: float,
        *,
        moves: bool,
        enough: Callable[[Answer], bool] = lambda answer: False,
    ) -> Searched:
        """Return what a search of drivers that call a function finds in some time."""
        entry, called = call
        place = entry.file.relative_to(self._copy.root)
        self._options.say(f"{place}: searching arguments for {entry.name} ({called.name})")
        if self._process is None:
            self._process = DriverProcess(
                DRIVERS, SEARCHED_ON, self._claims, self._working_folder(), self._options.limits
            )
        deadline = self._process.clock() + seconds
        search = Search(self._sources, self._guesses, self._copy, self._process, deadline, enough)
        found = search.drivers(entry, called, wanted, self._device_name, moves=moves)
        self._options.say(f"{place}: {found.tries} drivers tried. {found.stopped}")
        if found.stopped or found.bare:
            self._end_process()  # it may hang, or hold much memory, or what was imported in an unusual way
        return found

    @property
    def _device_name(self) -> str:
        """Return the name that drivers give to the device."""
        kind = self._options.device.partition(":")[2]
        return kind or "cuda"

    def _working_folder(self) -> Path:
        """Return the folder in which drivers run."""
        folder = self._copy.place.parent / "work"
        folder.mkdir(exist_ok=True)
        return folder

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _judge(self, found: Searched, wanted: Iterable[int]) -> None:
        """Judge findings by a search: the drivers that decide some run once more, in a process of their own."""
        by_driver: dict[int, tuple[CallDriver, list[int]]] = {}
        for index in wanted:
            driver = found.decided.get(index)
            if driver is not None:
                by_driver.setdefault(id(driver), (driver, []))[1].append(index)
            elif self._judged[index].verdict is Verdict.NOT_BUILDABLE:
                later = self._undecided(index, found)
                # What was tried first suits the finding best; its reason is told unless another call came farther.
                if index not in self._tried or later.verdict is not Verdict.NOT_BUILDABLE:
                    self._judged[index] = later
                self._tried.add(index)
        for driver, indexes in by_driver.values():
            for judgement, index in self._confirmed_by(driver, indexes):
                self._judged[index] = judgement
                if judgement.verdict is Verdict.CONFIRMED and driver.moves:
                    self._ask_callers(driver, index)
                    self._ask_default_device(index)

    def _ask_default_device(self, index: int) -> None:
        """Take a confirmation back if the project makes such tensors on the accelerator by a default that it sets."""
        judged, finding = self._judged[index], self._findings[index]
        if judged.verdict is Verdict.CONFIRMED and finding.code in OF_FACTORIES and self._default_device_setter:
            reason = f"the project sets the default device for new tensors in {self._default_device_setter}"
            self._judged[index] = Judgement(finding, Verdict.NOT_REACHED, reason, judged.driver, judged.origin)

    @cached_property
    def _default_device_setter(self) -> str | None:
        return default_device_setter(self._sources)

    def _ask_callers(self, driver: CallDriver, index: int) -> None:
        """Take a confirmation back if the project itself calls the function with tensors on the host only.

        A caller that cannot be run, or does not come to the finding, says nothing.
        """
        seconds = min(self._options.limits.seconds, _SECONDS_FOR_CALLERS)
        on_host: Judgement | None = None
        for caller in islice(project_callers(driver.entry, driver.method, self._sources), _CALLERS):
            found = self._searched(caller, [index], seconds, moves=True, enough=partial(_ran_on_host, index))
            if index in found.decided:
                return
            if found.best is not None and _ran_on_host(index, found.best[1]):
                reason = f"the project itself calls it with tensors on the host, in {caller[0].name}"
                shown = found.best[0].text(self._copy.root, self._copy.root)
                on_host = Judgement(self._findings[index], Verdict.NOT_REACHED, reason, shown, "arguments")
        self._judged[index] = on_host or self._judged[index]

    def _confirmed_by(self, driver: CallDriver, indexes: Sequence[int]) -> Iterator[tuple[Judgement, int]]:
        """Yield the judgements that a driver gives when it runs alone, on the device that was asked for."""
        text = driver.text(self._copy.root, self._copy.place)
        shown = driver.text(self._copy.root, self._copy.root)
        self._options.say(f"running this driver on {self._options.device}:\n{shown}")
        with driver_process(
            DRIVERS, self._options.device, self._claims, self._working_folder(), self._options.limits
        ) as process:
            answer = None
            reason = ""
            try:
                answer = process.run({"driver": text, "name": "driver.py"})
            except NoAnswer as problem:
                reason = str(problem)
        for index in indexes:
            finding = self._findings[index]
            known = Judgement(finding, Verdict.NOT_REACHED, f"the driver did not end: {reason}", shown, "arguments")
            if answer is not None:
                evidence = answer.evidence[index]
                verdict, why = judge(finding, evidence, answer.error)
                if verdict is Verdict.CONFIRMED and not self._is_sound(evidence, answer):
                    verdict = Verdict.NOT_REACHED
                known = replace(known, verdict=verdict, reason=why)
                if verdict is Verdict.CONFIRMED:
                    place = self._copy.original(evidence.filename or "")
                    known = replace(known, error=evidence.detail, filename=str(place), row=evidence.row)
            yield known, index

    def _is_sound(self, evidence: Evidence, answer: Answer) -> bool:
        """Return whether the operation that failed ran when the driver went on after it.

        Otherwise the arguments may not fit. A real device stops at the first error, and there the search has seen it.
        """
        return evidence.ended or answer.error is None or not self._options.device.startswith(SEARCHED_ON)

    def _undecided(self, index: int, found: Searched) -> Judgement:
        """Return the judgement on a finding that no driver decides, with the reason."""
        finding = self._findings[index]
        if found.missing is not None:
            reason = f"it needs the package {found.missing}, which is not installed"
            return Judgement(finding, Verdict.NOT_BUILDABLE, reason)
        if found.best is None:
            return Judgement(
                finding, Verdict.NOT_BUILDABLE, self._copy.in_project(found.stopped) or "no driver could be run"
            )
        driver, answer = found.best
        evidence = answer.evidence[index]
        verdict, reason = judge(finding, evidence, answer.error)
        if verdict is Verdict.CONFIRMED:
            verdict, reason = Verdict.NOT_REACHED, f"it was seen, but with arguments that do not fit: {answer.error}"
        elif verdict is Verdict.REFUTED:
            verdict, reason = Verdict.NOT_REACHED, "it ran without an error, but with arguments that prove nothing"
        elif verdict is Verdict.NOT_BUILDABLE:
            reason = f"no arguments were found with which it runs; the error of the best ones is {answer.error}"
        shown = driver.text(self._copy.root, self._copy.root)
        return Judgement(finding, verdict, self._copy.in_project(reason), shown, "arguments")


def _ran_on_host(index: int, answer: Answer) -> bool:
    """Return whether a driver ran to its end, and the operation of a finding on the host only, but others did not.

    A program in which nothing is on the accelerator does not choose the host for this one.
    """
    evidence = answer.evidence[index]
    on_host = evidence.ended and not evidence.used and evidence.used_elsewhere
    return answer.error is None and on_host and not evidence.errors
