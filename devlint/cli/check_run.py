"""One run of `devlint check`: find the files, analyse them, filter the findings, and write the reports."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from devlint.cache.store import FOLDER, ProjectCache, Store
from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED, FOUND
from devlint.cli.finding_filters import BaselineFile, only_changed
from devlint.cli.fix_options import FixOptions
from devlint.cli.option_values import ReportTarget, variable_of
from devlint.cli.output_streams import report_base, write_file, write_stdout
from devlint.cli.run_costs import RunMeter
from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.config.rule_selection import REVEALED
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.linter.check import CheckResult, check_files, files_in_shard
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.rule_listing import all_rule_metadata
from devlint.linter.shard import Shard
from devlint.output import WITHOUT_CELLS, find_format
from devlint.output.fix_summary import fix_summary
from devlint.output.report_context import ReportContext, RunFacts
from devlint.rule_metadata import RuleMetadata
from devlint.syntax.source_reading import shown_name
from devlint.triage.baseline import BaselineEntry

if TYPE_CHECKING:
    from devlint.cli.fix_mode import FixResult


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The parsed command line of `devlint check`: what to check, how, and where to write the reports.

    `stdin_name` is the file name to report for the standard input, or None if devlint reads files. `baseline` takes
    the place of the file that the settings name, and `no_baseline` does without. `arguments` are the words of the
    command line, and `began` is the time at which it was given. `profile` asks for the slowest code, and `costs` for
    the time and the memory of the run. `told_gone` are the entries of baseline files that notes have called gone, so
    that a run after the next change of a file does not say so again. With a `shard`, only the findings in its part of
    the files are reported.
    """

    paths: Sequence[Path]
    options: Options
    targets: Sequence[ReportTarget]
    config: Path | None = None
    isolated: bool = False
    stdin_name: str | None = None
    changed_since: str | None = None
    baseline: Path | None = None
    no_baseline: bool = False
    update_baseline: bool = False
    exit_zero: bool = False
    verbose: bool = False
    profile: bool = False
    costs: bool = False
    use_cache: bool = False
    fix_options: FixOptions | None = None
    jobs: int = 1
    shard: Shard | None = None
    arguments: Sequence[str] = ()
    began: datetime = field(default_factory=datetime.now)
    told_gone: set[BaselineEntry] = field(default_factory=set)


class ErrorReporter:
    """A callable that writes error messages to the standard error stream, each text once, while the run continues."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def __call__(self, text: str) -> None:
        """Write an error message to the standard error stream, unless the same text was written before."""
        if text not in self._reported:
            self._reported.add(text)
            terminal.error(text)

    def __bool__(self) -> bool:
        """Return whether any error was written."""
        return bool(self._reported)


def run_check(request: CheckRequest) -> int:
    """Do one run of `devlint check`: analyse the files, fix them if requested, write the reports.

    Return the exit status.
    """
    meter = RunMeter()
    rule_metadata = _metadata_by_code()
    errors = ErrorReporter()
    settings_for = _resolver(request, rule_metadata).settings_for
    with terminal.progress() as progress:
        progress("Looking for files", 0, 0)
        files = _find_files(request, settings_for, errors)
    if request.verbose:
        found = dict.fromkeys(shown_name(file.settings.path) for file in files if file.settings.path is not None)
        terminal.note(f"settings: {', '.join(found) or 'no configuration file'}")
    if not files and not errors:
        terminal.warn("no Python files to check")
    for warning in dict.fromkeys(text for file in files for text in file.settings.warnings):
        terminal.warn(warning)
    baselines = _baselines(request, files)
    if request.update_baseline and not baselines:
        raise click.UsageError("--update-baseline needs --baseline or the setting `baseline`")
    stdin = sys.stdin.buffer.read() if files and request.stdin_name is not None else None
    fixed: FixResult | None = None
    cache = _project_cache(files) if request.use_cache and files and stdin is None else None
    with terminal.progress(verbose=request.verbose) as progress:
        if request.fix_options is None or not files:
            outcome = check_files(
                files, stdin, progress, cache=cache, jobs=request.jobs, shard=request.shard, timed=request.profile
            )
        else:
            # Imported here since fixes need libcst, without which a run is faster that finds all results in the cache.
            from devlint.cli.fix_mode import fix_files

            keep = partial(_filtered, request, baselines, quiet=True)
            fixed = fix_files(files, stdin, request.fix_options, keep, progress, cache, settings_for, request.jobs)
            outcome = fixed.repair.seen
    if request.shard is not None:
        terminal.note(f"shard {request.shard}: {outcome.checked} of {len(files)} files")
    _warn_internal_errors(outcome, verbose=request.verbose)
    if cache is not None and cache.store.problem is not None and request.verbose:
        terminal.note(f"nothing is kept for the next run: {cache.store.problem}")
    status = _finish(request, files, outcome, errors, baselines, fixed)
    if request.profile:
        write_stdout((f"{line}\n" for line in meter.profile(outcome.work)), color=False, to_stderr=True)
    elif request.costs or request.verbose:
        for line in meter.summary(outcome.work):
            terminal.note(line)
    return status


def _finish(
    request: CheckRequest,
    files: Sequence[DiscoveredFile],
    outcome: CheckResult,
    errors: ErrorReporter,
    baselines: Sequence[BaselineFile],
    fixed: FixResult | None,
) -> int:
    """Write what the user asked for after an analysis: a baseline, fixed files or reports; return the exit status."""
    if request.update_baseline:
        for baseline in baselines:
            baseline.update(outcome.diagnostics, outcome.sources)
        return FAILED if errors or outcome.errors else CLEAN
    if request.fix_options is not None and fixed is not None:
        # Imported here since fixes need libcst, without which a run is faster that finds all results in the cache.
        from devlint.cli.fix_mode import write_fixes

        write_fixes(fixed, files, request.fix_options, errors)
        if request.fix_options.diff or request.fix_options.fix_only:
            changed = request.fix_options.diff and bool(fixed.changed)
            # Who asked for no diff learns of the findings that no fix mends, too.
            left = request.fix_options.unasked and bool(_filtered(request, baselines, outcome, quiet=True))
            changed = changed or left
            failed = errors or outcome.errors
            return FAILED if failed else FOUND if changed and not request.exit_zero else CLEAN
    return _report(request, files, outcome, _filtered(request, baselines, outcome), errors)


def _baselines(request: CheckRequest, files: Sequence[DiscoveredFile]) -> list[BaselineFile]:
    """Return the baseline files of a request: the one on the command line, else those that the files' settings name."""
    folders = [path for path in request.paths if path.is_dir()] if request.stdin_name is None else []
    is_whole = request.shard is None
    if request.baseline is not None:
        return [BaselineFile(request.baseline, files, folders, request.told_gone, of_settings=False, is_whole=is_whole)]
    by_path: dict[Path, list[DiscoveredFile]] = {}
    for file in () if request.no_baseline else files:
        if file.settings.baseline is not None:
            by_path.setdefault(file.settings.baseline, []).append(file)
    return [
        BaselineFile(path, covered, folders, request.told_gone, of_settings=True, is_whole=is_whole)
        for path, covered in by_path.items()
    ]


def _filtered(
    request: CheckRequest, baselines: Sequence[BaselineFile], outcome: CheckResult, *, quiet: bool = False
) -> list[Diagnostic]:
    """Return the findings to report: without those in a baseline file and, with `--changed`, those in unchanged code.

    Unless `quiet`, write notes on known findings and on entries of a baseline file whose finding is gone.
    """
    kept, sources = list(outcome.diagnostics), outcome.sources
    # A baseline is compared with all findings, since what it records in unchanged code is not gone.
    for baseline in baselines:
        kept = baseline.filter_new(kept, sources, quiet=quiet)
    if request.changed_since is not None:
        kept = only_changed(kept, request.changed_since, sources)
    return kept


def _report(
    request: CheckRequest,
    files: Sequence[DiscoveredFile],
    outcome: CheckResult,
    kept: Sequence[Diagnostic],
    errors: ErrorReporter,
) -> int:
    """Write the requested reports on the findings, and return the exit status of the run."""
    sources = outcome.sources
    page = ReportContext(
        lines=sources.lines,
        checked=outcome.checked,
        rules=_metadata_by_code(),
        base=report_base(),
        unsafe_fixes=request.fix_options is not None and request.fix_options.unsafe,
        run=_run_facts(request, files),
    )
    # If the fixed text goes to the standard output, the report goes to the standard error stream.
    to_stderr = request.fix_options is not None and request.stdin_name is not None
    for target in request.targets:
        in_file = target.format in WITHOUT_CELLS
        _write(
            target,
            [sources.with_file_rows(diagnostic) for diagnostic in kept] if in_file else kept,
            page,
            to_stderr=to_stderr,
        )
        if target == ReportTarget("concise") and (fixable := fix_summary(kept, page)):
            # The format has a line for each finding and no other, so that the count of lines stays theirs.
            terminal.note(fixable)
    if not kept and outcome.checked and not (errors or outcome.errors) and request.stdin_name is None:
        _say_clean(request, outcome, hidden=len(outcome.diagnostics) > 0)
    if errors or outcome.errors:
        return FAILED
    counted = any(diagnostic.code != REVEALED for diagnostic in kept)
    return FOUND if counted and not request.exit_zero else CLEAN


def _say_clean(request: CheckRequest, outcome: CheckResult, *, hidden: bool) -> None:
    """Write a note that nothing was found, beside reports with a line for each finding, which are empty then.

    `hidden` tells that there are findings which the user asked not to see, such as those in a baseline file.
    """
    if ReportTarget("concise") in request.targets or ReportTarget("grouped") in request.targets:
        where = f"{outcome.checked} {'file' if outcome.checked == 1 else 'files'}"
        if request.changed_since is not None:
            terminal.note(f"no findings in what changed ({where} checked)")
        else:
            terminal.note(f"no {'other ' if hidden else ''}findings in {where}")


def _run_facts(request: CheckRequest, files: Sequence[DiscoveredFile]) -> RunFacts:
    """Return what a report says of this run."""
    found = dict.fromkeys(str(file.settings.path) for file in files if file.settings.path is not None)
    return RunFacts(
        request.began,
        shlex.join(["devlint", *request.arguments]),
        ", ".join(found) or None,
    )


def list_files(request: CheckRequest) -> int:
    """Write the names of the files that `devlint check` would check, and return the exit status."""
    errors = ErrorReporter()
    files = _find_files(request, _resolver(request, _metadata_by_code()).settings_for, errors)
    if request.shard is not None:
        files = files_in_shard(files, request.shard)
    write_stdout((f"{file.name}\n" for file in files), color=False)
    return FAILED if errors else CLEAN


def settings_of_first_path(request: CheckRequest) -> Settings:
    """Return the settings that hold for the first path on the command line."""
    first = Path(request.stdin_name) if request.stdin_name is not None else request.paths[0]
    place = Path(os.path.abspath(first))
    try:
        return _resolver(request, _metadata_by_code()).settings_for(place if place.is_dir() else place.parent)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None


def _metadata_by_code() -> dict[str, RuleMetadata]:
    """Return a mapping from the code of each rule, such as DEV101, to the rule's description."""
    return {rule.code: rule for rule in all_rule_metadata()}


def _resolver(request: CheckRequest, rule_metadata: Mapping[str, RuleMetadata]) -> Resolver:
    """Return the resolver that finds the settings of each file for a request.

    Raise UsageError if an option is invalid.
    """
    try:
        return Resolver(
            list(rule_metadata.values()),
            request.options,
            cwd=Path.cwd(),
            config=request.config,
            isolated=request.isolated,
        )
    except ConfigError as problem:
        raise click.UsageError(_with_variable(problem)) from None


def _with_variable(problem: ConfigError) -> str:
    """Return what is wrong with an option, which is named by its environment variable if that gave it."""
    context = click.get_current_context(silent=True)
    name = problem.key.replace("-", "_")
    if context is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        return f"{variable_of(context, name)}: {problem.problem}"
    return str(problem)


def _find_files(
    request: CheckRequest, settings_for: Callable[[Path], Settings], report_error: Callable[[str], None]
) -> list[DiscoveredFile]:
    """Return the files to check with their settings; the standard input counts as a file."""
    discovery = Discovery(settings_for, report_error)
    return list(
        discovery.find(request.paths) if request.stdin_name is None else discovery.find_text(request.stdin_name)
    )


def _project_cache(files: Sequence[DiscoveredFile]) -> ProjectCache:
    """Return the cache for a run over some files: that of the outermost folder which has settings for them."""
    settings = min((file.settings for file in files), key=lambda one: (len(one.root.parts), one.root))
    return ProjectCache(Store(settings.cache_dir or settings.root / FOLDER), settings.root)


def _warn_internal_errors(outcome: CheckResult, *, verbose: bool) -> None:
    """Warn about internal errors of devlint in an analysis: in full if `verbose`, else only with their number."""
    lost = [error for error in outcome.errors if not error.traceback]
    for error in lost:
        terminal.warn(f"internal error: {error.filename} is left out: {error.message}")
    errors = {(error.filename, error.where, error.message): error for error in outcome.errors if error.traceback}
    if verbose:
        for error in errors.values():
            terminal.warn(f"internal error in {error.filename}, {error.where}: {error.message}\n{error.traceback}")
        for one in sorted(outcome.unparsed_statements, key=lambda one: (one.filename, one.row)):
            terminal.warn(f"{one.filename}:{one.row}: a statement is left out: {one.message}")
    elif errors:
        parts = "1 function was" if len(errors) == 1 else f"{len(errors)} functions were"
        terminal.warn(f"{parts} not analysed to the end because of an internal error; --verbose tells more")


def _write(target: ReportTarget, diagnostics: Sequence[Diagnostic], page: ReportContext, *, to_stderr: bool) -> None:
    """Write one report to its file or to the standard output; only a report on the standard output has colours."""
    render = find_format(target.format)
    if target.path is not None:
        write_file(render(diagnostics, page), target.path)
        return
    color = terminal.has_color() and not to_stderr
    write_stdout(
        render(
            diagnostics,
            replace(page, color=color, width=terminal.width(), on_terminal=terminal.is_shown(to_stderr=to_stderr)),
        ),
        color=color,
        to_stderr=to_stderr,
    )
