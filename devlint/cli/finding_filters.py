"""Filters that leave out findings: those known from a baseline file, and those in code unchanged since a commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from devlint.cli import terminal
from devlint.cli.output_streams import write_file
from devlint.config.rule_selection import REVEALED, UNUSED_CODE
from devlint.diagnostic import Diagnostic
from devlint.linter.discovery import DiscoveredFile
from devlint.linter.source_lines import SourceLines
from devlint.triage.baseline import (
    BaselineEntry,
    BaselineError,
    baseline_entry,
    baseline_text,
    compare_with_baseline,
    path_from_here,
    read_baseline,
)
from devlint.triage.git_changes import GitError, changed_rows, findings_in_changes


def only_changed(diagnostics: Sequence[Diagnostic], since: str, sources: SourceLines) -> list[Diagnostic]:
    """Return the findings that concern code changed since a commit.

    These are the findings in changed functions or on changed lines, and those with a changed line in their trace.
    """
    try:
        rows = changed_rows(since, Path.cwd())
    except GitError as problem:
        raise click.ClickException(f"--changed: {problem}") from None
    return list(
        findings_in_changes(
            diagnostics, rows, sources.lines, lambda name: sources.path(name).resolve(), sources.region_in_file
        )
    )


class BaselineFile:
    """A baseline file, which records known findings, together with the checked files whose findings it filters.

    Findings in other files are left as they are. `folders` are those that the run was asked to check, with all files
    below them. `told` has the entries that an earlier run in the same session has called gone. `of_settings` tells that
    the settings name the file, `is_whole` that the findings are those of all checked files, and not of a shard.
    """

    def __init__(
        self,
        path: Path,
        checked: Sequence[DiscoveredFile],
        folders: Sequence[Path],
        told: set[BaselineEntry],
        *,
        of_settings: bool,
        is_whole: bool,
    ) -> None:
        self._path = path
        self._of_settings = of_settings
        self._is_whole = is_whole
        self._folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._told = told
        self._folder = Path(os.path.abspath(path)).parent
        self._codes = {self._relative(file.path): file.settings.codes_for(file.path) for file in checked}
        self._names = {file.name for file in checked}

    def filter_new(
        self, diagnostics: Sequence[Diagnostic], sources: SourceLines, *, quiet: bool = False
    ) -> list[Diagnostic]:
        """Return the findings that are not recorded in the baseline file.

        Unless `quiet`, write notes on the number of known findings, and on entries of the baseline file whose finding
        no longer occurs.
        """
        entries = self._entries()
        judged = [one for one in diagnostics if self._records(one)]
        others = [one for one in diagnostics if not self._records(one)]
        comparison = compare_with_baseline(
            judged,
            entries,
            file_of=lambda name: self._relative(sources.path(name)),
            is_judged=self._is_judged,
            exists=self._exists,
        )
        if comparison.known and not quiet:
            terminal.note(f"{comparison.known} known from {path_from_here(self._path)}")
        if not quiet:
            self._tell_gone(entries, comparison.gone)
        return sorted([*others, *comparison.new], key=lambda diagnostic: diagnostic.order)

    def update(self, diagnostics: Sequence[Diagnostic], sources: SourceLines) -> None:
        """Replace the entries of the baseline file by the given findings.

        Entries are kept which the run could not have found, unless their file does not exist. A suppression that
        silences nothing is never known: it is mended by deleting it.
        """
        before = self._entries() if self._path.exists() else ()
        found = [
            baseline_entry(diagnostic, lambda name: self._relative(sources.path(name)))
            for diagnostic in diagnostics
            if self._records(diagnostic) and diagnostic.code != UNUSED_CODE
        ]
        keys = {entry.key for entry in found}
        kept = [entry for entry in before if not self._is_looked_for(entry) and entry.key not in keys]
        write_file([baseline_text([*kept, *found])], self._path)
        others = f", {len(kept)} of what was not checked kept" if kept else ""
        terminal.note(f"{len(found)} written to {path_from_here(self._path)}{others}")

    def _entries(self) -> tuple[BaselineEntry, ...]:
        """Return the entries of the baseline file. Raise ClickException if it cannot be used, or is not there yet."""
        try:
            return read_baseline(self._path)
        except BaselineError as problem:
            raise click.ClickException(problem.advice(of_settings=self._of_settings)) from None

    def _records(self, diagnostic: Diagnostic) -> bool:
        """Return whether the baseline file may record a finding: in a file of its own, and no answer to a question."""
        return diagnostic.region.filename in self._names and diagnostic.code != REVEALED

    def _tell_gone(self, entries: Sequence[BaselineEntry], gone: Sequence[BaselineEntry]) -> None:
        """Write a note on each entry that is gone, unless an earlier run has written it, and remember these entries."""
        for entry in gone:
            if entry not in self._told:
                terminal.note(
                    f"gone, though {path_from_here(self._path)} has it: {entry.file}: {entry.code} {entry.message}"
                )
        self._told.difference_update(entries)
        self._told.update(gone)

    def _is_judged(self, entry: BaselineEntry) -> bool:
        """Return whether this run would have found what an entry records, so that the entry is gone if it did not.

        If the file is no more, the code may have moved to any other one: all files around it must have been checked. In
        a shard, not all of them are.
        """
        if not self._is_whole or not self._is_looked_for(entry):
            return False
        place = self._folder / entry.file
        return entry.file in self._codes or any(place.is_relative_to(folder) for folder in self._folders)

    def _is_looked_for(self, entry: BaselineEntry) -> bool:
        """Return whether this run has looked for what an entry records: its files were checked, and its rule was on.

        A finding that only comes to light where another file calls the code needs that file, too. Where a file is no
        more, nothing else can be looked for.
        """
        codes = self._codes.get(entry.file)
        if codes is None and not self._exists(entry.file):
            codes = frozenset[str]().union(*self._codes.values())
        if codes is None or entry.code not in codes:
            return False
        callers = [file for file in entry.through if self._exists(file)]
        return not callers or any(file in self._codes for file in callers)

    def _exists(self, file: str) -> bool:
        """Return whether the file of an entry exists."""
        return (self._folder / file).exists()

    def _relative(self, path: Path) -> str:
        """Return a path relative to the directory of the baseline file, with forward slashes."""
        return Path(os.path.relpath(path, self._folder)).as_posix()
