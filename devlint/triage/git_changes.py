"""Selection of the findings in code that has changed since a commit, by asking git which rows differ."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from devlint.diagnostic import Diagnostic, Position, Region
from devlint.triage.definition_scopes import DefinitionScope, definition_scopes

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = re.compile(rb'\+\+\+ "?b/(.*?)"?\t?$')


class GitError(Exception):
    """The error that git cannot be run, or that a git command has failed."""


@dataclass(frozen=True, slots=True)
class RowRange:
    """A range of consecutive rows of a file, from `first` to `last` inclusive."""

    first: int
    last: int

    def meet(self, first: int, last: int) -> bool:
        """Return whether this range shares a row with the range from `first` to `last`."""
        return self.first <= last and first <= self.last


_ALL = (RowRange(1, 1 << 60),)


def changed_rows(since: str, directory: Path) -> dict[Path, tuple[RowRange, ...]]:
    """Return, for each file of a repository, the rows that differ from the merge base of the commit `since` and HEAD.

    Every row of an untracked file counts as changed; of a renamed file, the rows that differ from the old one. Raises
    GitError if git fails.
    """
    top = Path(os.fsdecode(_git(directory, "rev-parse", "--show-toplevel")).rstrip("\n"))
    commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}", optional=True)
    if not commit:
        raise GitError(f"git knows no commit `{since}`")
    base = _git(top, "merge-base", os.fsdecode(commit).strip(), "HEAD", optional=True) or commit
    diff = _git(
        top,
        *("-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--find-renames"),
        *("--src-prefix=a/", "--dst-prefix=b/", os.fsdecode(base.split()[0]), "--"),
    )
    rows = {top / name: tuple(found) for name, found in _rows_in_diff(diff).items()}
    untracked = _git(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0")
    return rows | {top / os.fsdecode(name): _ALL for name in untracked if name}


def findings_in_changes(
    diagnostics: Sequence[Diagnostic],
    rows: Mapping[Path, Sequence[RowRange]],
    lines: Callable[[str, int | None], Sequence[str]],
    path_of: Callable[[str], Path],
    in_file: Callable[[Region], Region],
) -> Iterator[Diagnostic]:
    """Yield the findings in a changed function or on a changed line, and those whose trace passes a changed line.

    `in_file` converts a region of a notebook's cell to a region of the notebook file, whose rows git knows.
    """

    @cache
    def functions_of(filename: str, cell: int | None) -> list[DefinitionScope]:
        return [scope for scope in definition_scopes(lines(filename, cell), cell=cell is not None) if scope.function]

    def touched(region: Region, first: int, last: int) -> bool:
        place = in_file(replace(region, start=Position(first, 1), end=Position(last, 1)))
        changes = rows.get(path_of(region.filename), ())
        return any(changed.meet(place.start.row, place.end.row) for changed in changes)

    for diagnostic in diagnostics:
        region = diagnostic.region
        around = [scope for scope in functions_of(region.filename, region.cell) if _begins_within(scope, region)]
        first = min([region.start.row, *(scope.first for scope in around)])
        last = max([region.end.row, *(scope.last for scope in around)])
        steps = (note.region for note in diagnostic.trace)
        if touched(region, first, last) or any(touched(step, step.start.row, step.end.row) for step in steps):
            yield diagnostic


def _begins_within(scope: DefinitionScope, region: Region) -> bool:
    """Return whether a source region begins within the rows of a function."""
    return scope.first <= region.start.row <= scope.last


def _rows_in_diff(diff: bytes) -> dict[str, list[RowRange]]:
    """Return the rows that a git diff changes, as they are numbered after the change, by file name."""
    found: dict[str, list[RowRange]] = {}
    current: list[RowRange] = []
    content = 0
    for line in diff.split(b"\n"):
        if content:
            content -= not line.startswith(b"\\")
        elif name := _FILE.match(line):
            current = found.setdefault(os.fsdecode(name[1]), [])
        elif hunk := _HUNK.match(line):
            removed, first, added = (1 if number is None else int(number) for number in hunk.groups())
            content = removed + added
            # If lines were only removed, the rows around the gap count as changed.
            current.append(RowRange(first, first + added - 1) if added else RowRange(first, first + 1))
    return found


def _git(directory: Path, *arguments: str, optional: bool = False) -> bytes:
    """Run a git command and return its output.

    Raise GitError if git cannot be run, or if the command fails and is not `optional`.
    """
    try:
        done = subprocess.run(["git", *arguments], cwd=directory, capture_output=True, check=False)
    except OSError as problem:
        raise GitError(f"cannot run git: {problem.strerror}") from None
    if done.returncode and not optional:
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise GitError(said[0] if said else f"git {arguments[0]} failed for {arguments[-1]}")
    return done.stdout
