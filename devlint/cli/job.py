"""One run of the main command: find the files, analyse them, keep what is wanted, write it down."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from devlint.cli import terminal
from devlint.cli.mending import Mending, deliver, mend
from devlint.cli.parameters import Target
from devlint.cli.sifting import BaselineFile, only_changed
from devlint.cli.status import CLEAN, FAILED, FOUND
from devlint.cli.writing import write_file, write_out
from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.config.rule_selection import REVEALED
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.linter.check import Outcome, check
from devlint.linter.discovery import Discovery, Found
from devlint.linter.rule_loader import all_rules
from devlint.output import WITHOUT_CELLS, find_format
from devlint.output.report_context import ReportContext
from devlint.rule_metadata import RuleCard


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `stdin_name` is the name of the standard input, where that is to be read."""

    paths: Sequence[Path]
    options: Options
    targets: Sequence[Target]
    config: Path | None = None
    isolated: bool = False
    stdin_name: str | None = None
    changed_since: str | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    exit_zero: bool = False
    verbose: bool = False
    mending: Mending | None = None


class Complaints:
    """Says on the standard error what could not be done, each thing once, and the work goes on."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str) -> None:
        """Complain."""
        if text not in self._said:
            self._said.add(text)
            terminal.fail(text)

    def __bool__(self) -> bool:
        """Whether there was anything to complain of."""
        return bool(self._said)


def run(request: Request) -> int:
    """Check everything, write the reports and return the exit status."""
    cards = _cards()
    complain = Complaints()
    files = _find(request, _resolver(request, cards).settings_for, complain)
    if not files and not complain:
        terminal.warn("no Python files to check")
    stdin = sys.stdin.buffer.read() if files and request.stdin_name is not None else None
    with terminal.progress() as progress:
        if request.mending is None or not files:
            outcome = check(files, stdin, progress)
        else:
            sift = partial(_sifted, request, files, quiet=True)
            mended = mend(files, stdin, request.mending, sift, progress)
            outcome = mended.repair.seen
    _tell_errors(outcome, verbose=request.verbose)
    if request.update_baseline and request.baseline is not None:
        baseline = BaselineFile(request.baseline, [file.path for file in files])
        baseline.update(outcome.diagnostics, outcome.sources)
        return FAILED if complain else CLEAN
    if request.mending is not None and files:
        deliver(mended, files, request.mending, complain)
        if request.mending.diff or request.mending.only:
            changed = request.mending.diff and bool(mended.changed)
            return FAILED if complain else FOUND if changed and not request.exit_zero else CLEAN
    return _report(request, outcome, _sifted(request, files, outcome), complain)


def _sifted(request: Request, files: Sequence[Found], outcome: Outcome, *, quiet: bool = False) -> list[Diagnostic]:
    """The findings that are news, as the request sees it; unless `quiet`, says what is left out."""
    kept, sources = list(outcome.diagnostics), outcome.sources
    if request.changed_since is not None:
        kept = only_changed(kept, request.changed_since, sources)
    if request.baseline is not None:
        baseline = BaselineFile(request.baseline, [file.path for file in files])
        kept = baseline.sift(kept, sources, quiet=quiet)
    return kept


def _report(request: Request, outcome: Outcome, kept: Sequence[Diagnostic], complain: Complaints) -> int:
    """Write the reports and return the exit status."""
    sources = outcome.sources
    page = ReportContext(lines=sources.lines, checked=outcome.checked, rules=_cards(), base=_base())
    # Where the repaired text goes to the standard output, the report must not.
    beside = request.mending is not None and request.stdin_name is not None
    for target in request.targets:
        in_file = target.format in WITHOUT_CELLS
        _write(target, [sources.in_file(diagnostic) for diagnostic in kept] if in_file else kept, page, beside=beside)
    if complain:
        return FAILED
    counted = any(diagnostic.code != REVEALED for diagnostic in kept)
    return FOUND if counted and not request.exit_zero else CLEAN


def list_files(request: Request) -> int:
    """Name the files that would be checked, and return the exit status."""
    complain = Complaints()
    files = _find(request, _resolver(request, _cards()).settings_for, complain)
    write_out((f"{file.name}\n" for file in files), color=False)
    return FAILED if complain else CLEAN


def settings_of(request: Request) -> Settings:
    """The settings that hold for the first path of the request."""
    first = Path(request.stdin_name) if request.stdin_name is not None else request.paths[0]
    place = Path(os.path.abspath(first))
    try:
        return _resolver(request, _cards()).settings_for(place if place.is_dir() else place.parent)
    except ConfigError as problem:
        raise click.ClickException(str(problem)) from None


def _cards() -> dict[str, RuleCard]:
    return {rule.code: RuleCard.of(rule) for rule in all_rules()}


def _resolver(request: Request, cards: Mapping[str, RuleCard]) -> Resolver:
    try:
        return Resolver(
            list(cards.values()), request.options, cwd=Path.cwd(), config=request.config, isolated=request.isolated
        )
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from None


def _find(request: Request, settings_for: Callable[[Path], Settings], complain: Callable[[str], None]) -> list[Found]:
    discovery = Discovery(settings_for, complain)
    return list(discovery.find(request.paths) if request.stdin_name is None else discovery.text(request.stdin_name))


def _tell_errors(outcome: Outcome, *, verbose: bool) -> None:
    """Say where the analysis itself went wrong: in full, or that there is something to say."""
    errors = {(error.filename, error.where, error.message): error for error in outcome.errors}
    if verbose:
        for error in errors.values():
            terminal.warn(f"internal error in {error.filename}, {error.where}: {error.message}\n{error.traceback}")
        for one in sorted(outcome.unread, key=lambda one: (one.filename, one.row)):
            terminal.warn(f"{one.filename}:{one.row}: a statement is left out: {one.message}")
    elif errors:
        parts = "1 function was" if len(errors) == 1 else f"{len(errors)} functions were"
        terminal.warn(f"{parts} not analysed to the end because of an internal error; --verbose tells more")


def _base() -> Path:
    """The directory from which the services that read reports count paths: that of the whole repository."""
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        if folder := os.environ.get(variable):
            return Path(folder)
    cwd = Path.cwd()
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)


def _write(target: Target, diagnostics: Sequence[Diagnostic], page: ReportContext, *, beside: bool) -> None:
    """Write one report; only the standard output may have colours."""
    render = find_format(target.format)
    if target.path is not None:
        write_file(render(diagnostics, page), target.path)
        return
    color = terminal.has_color() and not beside
    write_out(render(diagnostics, replace(page, color=color, width=terminal.width())), color=color, beside=beside)
