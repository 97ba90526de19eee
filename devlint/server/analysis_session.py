"""Repeated analysis of the program that is open in an editor; results for unchanged code are reused."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.interpreter.program.program import Program
from devlint.interpreter.state.failures import InternalError
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.diagnostics import diagnostics_of
from devlint.linter.finding_locations import broken_file_diagnostic
from devlint.server.entry_cache import EntryCache
from devlint.server.expression_info import ExpressionDescriber, ExpressionInfo, NodeSpans
from devlint.server.file_analysis import (
    EditorProjection,
    FileAnalysis,
    OriginRegions,
    located_infos,
    origin_regions,
    referenced_texts,
)
from devlint.server.incremental_run import IncrementalRun
from devlint.server.observed_values import ObservedValues
from devlint.server.program_files import ProgramFiles
from devlint.syntax.index import Statement
from devlint.syntax.line_starts import NEWLINE
from devlint.triage.baseline import BaselineError, without_known
from devlint.triage.fingerprint import add_fingerprints


@dataclass(frozen=True, slots=True)
class AnalysisJob:
    """The input of one analysis: the texts open in the editor, and the settings of the open files to report on.

    Both mappings have resolved paths as keys. A change of the configuration changes `epoch`; results from another epoch
    are not reused. `find_workspace_files` returns all files of the workspace to report findings on, open or not, with
    their settings.
    """

    texts: Mapping[Path, str]
    settings: Mapping[Path, Settings]
    epoch: int = 0
    find_workspace_files: Callable[[], Mapping[Path, Settings]] = dict


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """The result of one analysis: findings and descriptions of expressions by file, and internal errors of devlint.

    A description tells in words the device and the dtype of the values of an expression. `texts` maps the names of all
    files to which the findings and descriptions refer to their texts. `is_complete` is False if only the open files
    were analysed although there are other files to report findings on. `problems` says which baseline files could not
    be used.
    """

    files: Mapping[Path, FileAnalysis]
    texts: Mapping[str, str]
    errors: Sequence[InternalError]
    is_complete: bool = True
    problems: Sequence[str] = ()


ReportResult: TypeAlias = Callable[[AnalysisResult, bool], None]
"""A callback that takes a result, and whether it is final: the infos of changed code are then up to date, too."""


class CancellationToken:
    """A handle with which another thread can cancel an analysis."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._run: IncrementalRun | None = None

    def cancel(self) -> None:
        """Stop the analysis to which this token is attached as soon as possible."""
        self.is_cancelled = True
        if self._run is not None:
            self._run.abandon()

    def attach(self, run: IncrementalRun) -> None:
        """Set the analysis that `cancel` stops; stop that analysis at once if `cancel` was called before."""
        self._run = run
        if self.is_cancelled:
            run.abandon()


class AnalysisSession:
    """A sequence of analyses of one program, each of which reuses earlier results for unchanged code."""

    def __init__(self) -> None:
        self._files = ProgramFiles()
        self._cache = EntryCache()
        self._spans = NodeSpans()
        self._descriptions: dict[Statement, tuple[list[ObservedValues], tuple[ExpressionInfo, ...]]] = {}
        self._configuration: object = None
        self._open: frozenset[Path] = frozenset()
        self._workspace: tuple[int, Mapping[Path, Settings]] = -1, {}
        self._complete_epoch: int | None = None
        self._problems: dict[str, None] = {}

    def analyse(
        self, job: AnalysisJob, token: CancellationToken, report: ReportResult, progress: Callable[[int, int], None]
    ) -> AnalysisResult | None:
        """Analyse the program and return the final result, or None if the analysis was cancelled.

        `report` gets preliminary results as early as possible: findings before the descriptions of changed expressions
        are computed, and, in the first analysis, the results for open files before the other files are analysed.
        `progress` gets the number of analysed files and the number of all files.
        """
        result = self._analyse_all(job, token, report, progress)
        # Garbage collection is enabled again here. This young collection counts towards the next full one.
        gc.collect(1)
        return result

    @with_deep_stack
    def _analyse_all(
        self, job: AnalysisJob, token: CancellationToken, report: ReportResult, progress: Callable[[int, int], None]
    ) -> AnalysisResult | None:
        """Analyse all files to report findings on, and return the result, or None if the analysis was cancelled.

        The open files are analysed first, unless an earlier analysis with this configuration has covered all files.
        """
        given = {**self._closed_files(job), **job.settings}
        if len(given) > len(job.settings) and self._complete_epoch != job.epoch:
            self._analyse_open_files(job, given, token, report)
        result = None if token.is_cancelled else self._analyse_files(job, given, given, token, report, progress)
        if result is not None:
            self._complete_epoch = job.epoch
        return result

    def _closed_files(self, job: AnalysisJob) -> Mapping[Path, Settings]:
        """Return the files to report findings on that are not open in the editor, with their settings."""
        if self._workspace[0] != job.epoch:
            self._workspace = job.epoch, job.find_workspace_files()
        return {path: one for path, one in self._workspace[1].items() if path not in job.texts and path.is_file()}

    def _analyse_open_files(
        self, job: AnalysisJob, given: Mapping[Path, Settings], token: CancellationToken, report: ReportResult
    ) -> None:
        """Analyse only the files that are open in the editor, and report the result, marked as incomplete."""

        def report_part(result: AnalysisResult, done: bool) -> None:
            report(replace(result, is_complete=False), done)

        result = self._analyse_files(job, given, job.settings, token, report_part, lambda done, of: None)
        if result is not None:
            report_part(result, True)

    def _analyse_files(
        self,
        job: AnalysisJob,
        given: Mapping[Path, Settings],
        wanted: Mapping[Path, Settings],
        token: CancellationToken,
        report: ReportResult,
        progress: Callable[[int, int], None],
    ) -> AnalysisResult | None:
        """Analyse the `wanted` files of a program that consists of the `given` files.

        Return the result, or None if the analysis was cancelled.
        """
        run = self._start_run(job, given)
        token.attach(run)
        for done, path in enumerate(sorted(wanted)):
            progress(done, len(wanted))
            run.analyse(path)
        if token.is_cancelled:
            run.store_results()
            return None
        diagnostics = diagnostics_of(run.results, run.program, run.codes)
        errors = [one for result in run.results for one in result.errors]
        known = {unit: infos for unit, (_, infos) in self._descriptions.items()}
        report(self._result(wanted, diagnostics, known, errors), False)
        progress(len(wanted), len(wanted))
        run.store_results()
        infos = self._describe(run.observed, token)
        self._drop_stale()
        return None if token.is_cancelled else self._result(wanted, diagnostics, infos, errors)

    def _start_run(self, job: AnalysisJob, given: Mapping[Path, Settings]) -> IncrementalRun:
        """Update the open texts, drop stale results, and return an analysis of the given files that is ready to run."""
        self._cache.invalidate(self._files.update_open_texts(job.texts))
        opened = job.texts.keys() - self._open
        self._open = frozenset(job.texts)
        settings = list({id(one): one for one in given.values()}.values())
        src = list(dict.fromkeys(folder for one in settings for folder in one.src if folder.is_dir()))
        models = list(dict.fromkeys(path for one in settings for path in one.models))
        configuration = (job.epoch, frozenset(path.parent for path in given), tuple(src), tuple(models))
        if configuration != self._configuration:
            self._cache.clear()
            self._configuration = configuration
        elif opened:
            # Values in these files were not recorded while the files were closed: analyse again what reaches them.
            self._cache.drop_reaching(frozenset(self._files.statements(opened)))
        codes = frozenset[str]().union(*(one.codes for one in settings))
        program = Program(
            [(path, path.as_posix()) for path in given],
            src,
            index=lambda path, name: self._files.index(path),
        )
        return IncrementalRun(program, codes, self._cache, models, self._files.statements(job.settings))

    def _result(
        self,
        wanted: Mapping[Path, Settings],
        diagnostics: Sequence[Diagnostic],
        infos: Mapping[Statement, Sequence[ExpressionInfo]],
        errors: Sequence[InternalError],
    ) -> AnalysisResult:
        """Return the analysis result for the `wanted` files, with all positions as in the texts in the editor."""
        projection = EditorProjection(lambda name: self._files.recovered_text(Path(name)))
        regions = origin_regions(infos, self._files)
        found: dict[str, list[Diagnostic]] = defaultdict(list)
        self._problems.clear()
        for one in projection.diagnostics(diagnostics):
            found[one.region.filename].append(one)
        files = {
            path: self._file_analysis(path, found[path.as_posix()], settings, infos, regions)
            for path, settings in wanted.items()
        }
        texts = referenced_texts(files.values(), regions, self._files.text)
        return AnalysisResult(files, texts, errors, problems=tuple(self._problems))

    def _file_analysis(
        self,
        path: Path,
        found: list[Diagnostic],
        settings: Settings,
        infos: Mapping[Statement, Sequence[ExpressionInfo]],
        regions: OriginRegions,
    ) -> FileAnalysis:
        """Return the results for one file: its described expressions and the findings that its settings keep."""
        recovered, name = self._files.recovered_text(path), path.as_posix()
        if recovered is not None and recovered.has_unparsable_spans and recovered.error is not None:
            found.append(broken_file_diagnostic(name, recovered.error))
        judged = [kept for one in found if (kept := settings.judge(one, path)) is not None]
        if settings.baseline is not None:
            judged = self._without_known(judged, settings.baseline)
        shown = () if recovered is None or recovered.is_unparsed else tuple(located_infos(recovered, infos))
        return FileAnalysis(self._files.text(name), tuple(judged), shown, regions)

    def _without_known(self, found: Sequence[Diagnostic], baseline: Path) -> list[Diagnostic]:
        """Return the findings in one file that its baseline file does not record; all if it cannot be read.

        What is wrong with the file is kept for the result.
        """

        @cache
        def lines(name: str, cell: int | None) -> Sequence[str]:
            return NEWLINE.split(self._files.text(name))

        try:
            return without_known(list(add_fingerprints(found, lines)), baseline, Path)
        except BaselineError as problem:
            self._problems[problem.advice(of_settings=True)] = None
            return [*found]

    def _describe(
        self, observed: Mapping[Statement, list[ObservedValues]], token: CancellationToken
    ) -> Mapping[Statement, Sequence[ExpressionInfo]]:
        """Return the descriptions of all expressions whose values the analysis has recorded, by top-level statement.

        A description tells in words the device and the dtype of the values of an expression. The descriptions for a
        statement are computed again only if the recorded values of its expressions have changed.
        """
        describer = ExpressionDescriber(self._spans)
        for unit, values in observed.items():
            known = self._descriptions.get(unit)
            same = known is not None and len(known[0]) == len(values) and all(map(_is_same, known[0], values))
            if not same and not token.is_cancelled:
                self._descriptions[unit] = values, describer.describe(unit, _merge(values))
        return {unit: self._descriptions[unit][1] for unit in observed if unit in self._descriptions}

    def _drop_stale(self) -> None:
        """Drop all cached descriptions and offsets that belong to statements which are no longer in the program."""
        existing = set(self._files.statements())
        self._spans.keep_only(existing)
        for unit in self._descriptions.keys() - existing:
            del self._descriptions[unit]


def _merge(several: Sequence[ObservedValues]) -> ObservedValues:
    """Return one mapping with all values that several analyses of one statement have recorded for its expressions."""
    if len(several) == 1:
        return several[0]
    return {
        node: [one for observed in several for one in observed.get(node, ())]
        for observed in several
        for node in observed
    }


def _is_same(one: object, other: object) -> bool:
    """Return whether two arguments are the same object; the operator `is` as a function."""
    return one is other
