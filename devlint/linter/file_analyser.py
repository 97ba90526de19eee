"""The analysis of a program's given files, one after the other and each as if it were the only one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from devlint.interpreter.driver.analysis import Analysis
from devlint.interpreter.driver.entry_points import analyse_file
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.observation import Observer
from devlint.interpreter.state.program_facts import ProgramFacts
from devlint.linter.call_records import host_calls
from devlint.linter.file_findings import FileFindings, ProgramQuestion
from devlint.linter.finding_locations import BROKEN_FILE_CODE, FindingLocator, broken_file_diagnostic
from devlint.linter.rule_loader import all_rules
from devlint.linter.rule_runner import RuleRunner
from devlint.linter.run_work import FileTime
from devlint.linter.timed_analysis import TimedAnalysis


class FileAnalyser:
    """The analysis of single files of one program, with the rules that have the `codes`.

    What is found from a file depends on the program, and not on which files were analysed before. `models` are files
    that describe other libraries; `observer`, if given, is shown the value of each expression. With `timed`, the time
    of each definition is measured.
    """

    def __init__(
        self,
        program: Program,
        codes: frozenset[str],
        models: Sequence[Path] = (),
        observer: Observer[Any] | None = None,
        *,
        timed: bool = False,
    ) -> None:
        self.program = program
        self.facts = ProgramFacts(program, models)
        self._codes = codes
        self._observer = observer
        self._timed = timed
        self._definition_times: tuple[tuple[str, float], ...] = ()
        self._locator = FindingLocator(program)

    def analyse(self, path: Path) -> FileFindings:
        """Interpret a given file, and return what the rules find."""
        module = self.program.load(path)
        if module is None:
            return self.broken(path)
        self.facts.constructor_data.asked.clear()
        self.facts.placed_datasets.asked.clear()
        runner = RuleRunner(all_rules(), self._codes)
        analysis = (TimedAnalysis if self._timed else Analysis)(self.facts, runner.dispatch, self._observer)
        with analysis.contain_errors(module.filename, "the file"):
            analyse_file(analysis, module)
        found = self.findings(module.filename, runner, analysis)
        if isinstance(analysis, TimedAnalysis):
            self._definition_times = tuple(analysis.seconds.items())
        analysis.release()
        return found

    def analyse_timed(self, path: Path) -> tuple[FileFindings, FileTime]:
        """Interpret a given file, and return what the rules find and how long it took."""
        self._definition_times = ()
        began = time.process_time()
        found = self.analyse(path)
        return found, FileTime(found.filename, time.process_time() - began, self._definition_times)

    def parse(self, path: Path) -> FileFindings:
        """Parse a given file that is set aside, and return the result: nothing, unless it cannot be parsed."""
        module = self.program.load(path)
        return FileFindings(module.filename) if module is not None else self.broken(path)

    def findings(self, filename: str, runner: RuleRunner, analysis: Analysis) -> FileFindings:
        """Return what the rules of a runner have found in the events of the analysis of one file."""
        located = tuple(self._locator.located(runner.findings(), analysis.contain_errors))
        withheld = frozenset(self._locator.places(runner.withheld))
        return FileFindings(
            filename,
            located,
            withheld,
            errors=tuple(analysis.errors),
            unparsed_statements=frozenset(analysis.unparsed_statements),
            questions=tuple(self._questions()),
            host_calls=tuple(host_calls(self._given, analysis.passed_arguments)),
        )

    @cached_property
    def _given(self) -> frozenset[str]:
        """The names of the given files."""
        loaded = (self.program.load(path) for path in self.program.given_paths)
        return frozenset(one.filename for one in loaded if one is not None)

    def _questions(self) -> Iterator[ProgramQuestion]:
        """Yield what the analysis of the file has asked of the program as a whole."""
        for (path, transforms_only), answer in self.facts.placed_datasets.asked.items():
            yield ProgramQuestion(path.as_posix(), answer, transforms_only=transforms_only)
        for asked, answer in self.facts.constructor_data.asked.items():
            yield ProgramQuestion(asked.path.as_posix(), answer, (asked.owner, asked.parameters, asked.parameter))

    def broken(self, path: Path) -> FileFindings:
        """Return the result for a given file that cannot be read or parsed."""
        filename, error = self.program.broken_files[path]
        reported = BROKEN_FILE_CODE in self._codes
        return FileFindings(filename, broken=(broken_file_diagnostic(filename, error),) if reported else ())
