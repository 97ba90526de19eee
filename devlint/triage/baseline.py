"""Baselines: the findings that are known already, in a file that is kept with the code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devlint.diagnostic import Diagnostic

_VERSION = 1


class BaselineError(Exception):
    """A baseline that cannot be read."""


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """A known finding; `file` is relative to the directory of the baseline. The message is there for the reader."""

    file: str
    code: str
    fingerprint: str
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """By what it is known again in its file."""
        return (self.file, self.code, self.fingerprint)

    @property
    def moved_key(self) -> tuple[str, str]:
        """By what it is known again in another file."""
        return (self.code, self.fingerprint)


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """What is new against a baseline, how many findings it covers, and which of its entries are gone."""

    new: tuple[Diagnostic, ...]
    known: int
    gone: tuple[BaselineEntry, ...]


def read_baseline(path: Path) -> tuple[BaselineEntry, ...]:
    """The entries of the file."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BaselineError(f"{path}: {problem.strerror}") from None
    except ValueError as problem:
        raise BaselineError(f"{path}: not a baseline: {problem}") from None
    try:
        if content["version"] != _VERSION:
            raise BaselineError(f"{path}: written by another version of devlint")
        return tuple(
            BaselineEntry(str(each["file"]), str(each["code"]), str(each["fingerprint"]), str(each["message"]))
            for each in content["findings"]
        )
    except (KeyError, TypeError):
        raise BaselineError(f"{path}: not a baseline") from None


def baseline_text(entries: Iterable[BaselineEntry]) -> str:
    """A baseline with these entries, one on each line, so that changes of it can be read and merged."""
    lines = [
        json.dumps(
            {"file": entry.file, "code": entry.code, "fingerprint": entry.fingerprint, "message": entry.message},
            ensure_ascii=False,
        )
        for entry in sorted(entries)
    ]
    listed = ",\n".join(f"    {line}" for line in lines)
    return f'{{\n  "version": {_VERSION},\n  "findings": [\n{listed}\n  ]\n}}\n'


def baseline_entry(diagnostic: Diagnostic, file: str) -> BaselineEntry:
    """The entry by which this finding is known again."""
    return BaselineEntry(file, diagnostic.code, diagnostic.fingerprint, diagnostic.message)


def compare_with_baseline(
    diagnostics: Sequence[Diagnostic],
    entries: Sequence[BaselineEntry],
    *,
    file_of: Callable[[Diagnostic], str],
    checked: Collection[str],
    exists: Callable[[str], bool],
) -> BaselineComparison:
    """Set the findings against the entries.

    An entry is gone if its file was checked or is no more. An entry whose file is no more also covers a finding that is
    alike in another file: the code has moved.
    """
    left = Counter(entry.key for entry in entries)
    moved = Counter(entry.moved_key for entry in entries if not exists(entry.file))
    new = []
    for diagnostic in diagnostics:
        like = baseline_entry(diagnostic, file_of(diagnostic))
        if left[like.key] > 0:
            left[like.key] -= 1
        elif moved[like.moved_key] > 0:
            moved[like.moved_key] -= 1
        else:
            new.append(diagnostic)
    gone = [entry for entry in entries if _take(entry, left, moved, checked, exists)]
    return BaselineComparison(tuple(new), len(diagnostics) - len(new), tuple(gone))


def _take(
    entry: BaselineEntry,
    left: Counter[tuple[str, str, str]],
    moved: Counter[tuple[str, str]],
    checked: Collection[str],
    exists: Callable[[str], bool],
) -> bool:
    """Take the entry from those that covered nothing; whether it was among them."""
    if exists(entry.file):
        gone = entry.file in checked and left[entry.key] > 0
        left[entry.key] -= gone
        return gone
    gone = moved[entry.moved_key] > 0
    moved[entry.moved_key] -= gone
    return gone
