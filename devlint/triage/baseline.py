"""Baseline files: they record known findings of a code base, so that only new findings are reported."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from devlint.config.rule_selection import REVEALED
from devlint.diagnostic import Diagnostic

_VERSION = 1
Key: TypeAlias = tuple[str, str, str]
"""The file, rule code and fingerprint, which together identify a finding in its code base."""
_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)")
"""The beginning of a line that git writes into a file which two branches have changed."""


class BaselineError(Exception):
    """The error that a baseline file cannot be read."""

    def advice(self, *, of_settings: bool) -> str:
        """Return what is wrong, for users of `devlint check` and of what shows its findings.

        `of_settings` tells that the settings name the file, so that a command need not.
        """
        return str(self)


class NoBaselineError(BaselineError):
    """The error that there is no baseline file yet."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: no such file")
        self._path = path

    def advice(self, *, of_settings: bool) -> str:
        """Return what is wrong, and the command that makes the file."""
        return f"{self}; `{_update_command(self._path, of_settings=of_settings)}` makes it"


class BrokenBaselineError(BaselineError):
    """The error that a file is no baseline, such as one with the marks of a merge conflict."""

    def __init__(self, path: Path, detail: str = "") -> None:
        super().__init__(f"{path}: not a baseline{': ' if detail else ''}{detail}")
        self._path = path

    def advice(self, *, of_settings: bool) -> str:
        """Return what is wrong, and what to do before the file is written anew. Nothing replaces it unasked."""
        return f"{self}; mend or delete it, then run `{_update_command(self._path, of_settings=of_settings)}`"


def _update_command(path: Path, *, of_settings: bool) -> str:
    """Return the command that writes a baseline file, which names the file unless the settings do."""
    named = [] if of_settings else ["--baseline", path_from_here(path)]
    return shlex.join(["devlint", *named, "--update-baseline"])


def path_from_here(path: Path) -> str:
    """Return the path of a baseline file for a message: from the current directory if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """One known finding in a baseline file.

    `file` is relative to the directory of the baseline file; `message` is for human readers only. `others` identify the
    findings of the same mistake, one of which a run over other files may report. `through` are the files one of which a
    run must check to get to the finding; empty where `file` will do.
    """

    file: str
    code: str
    fingerprint: str
    message: str = ""
    others: tuple[Key, ...] = ()
    through: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """The file, rule code and fingerprint of the finding."""
        return (self.file, self.code, self.fingerprint)

    @property
    def keys(self) -> frozenset[Key]:
        """What identifies the findings of the mistake, one of which a run reports."""
        return frozenset((self.key, *self.others))

    @property
    def moved_key(self) -> tuple[str, str]:
        """The rule code and fingerprint, which identify the finding even after its code has moved to another file."""
        return (self.code, self.fingerprint)


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The result of comparing findings with a baseline file.

    It has the new findings, the number of findings that the file records, and the file's entries whose finding is gone.
    """

    new: tuple[Diagnostic, ...]
    known: int
    gone: tuple[BaselineEntry, ...]


def read_baseline(path: Path) -> tuple[BaselineEntry, ...]:
    """Return the entries of a baseline file.

    Raise NoBaselineError if there is no file, BrokenBaselineError if it is not a baseline, and BaselineError if it
    cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content: Any = json.loads(text)
    except FileNotFoundError:
        raise NoBaselineError(path) from None
    except OSError as problem:
        raise BaselineError(f"{path}: {problem.strerror}") from None
    except json.JSONDecodeError as problem:
        marked = next((row for row, line in enumerate(text.splitlines(), 1) if _CONFLICT.match(line)), None)
        conflict = f"line {marked} has the mark of a merge conflict"
        raise BrokenBaselineError(path, str(problem) if marked is None else conflict) from None
    except ValueError as problem:
        raise BrokenBaselineError(path, str(problem)) from None
    try:
        if content["version"] != _VERSION:
            raise BaselineError(f"{path}: written by another version of devlint")
        return tuple(map(_entry, content["findings"]))
    except (AttributeError, KeyError, TypeError):
        raise BrokenBaselineError(path) from None


def _entry(each: Mapping[str, Any]) -> BaselineEntry:
    """Return the entry of a baseline file that a JSON object describes."""
    others = tuple((str(one["file"]), str(one["code"]), str(one["fingerprint"])) for one in each.get("same", ()))
    through = tuple(map(str, each.get("through", ())))
    file, code, fingerprint = str(each["file"]), str(each["code"]), str(each["fingerprint"])
    return BaselineEntry(file, code, fingerprint, str(each["message"]), others, through)


def baseline_text(entries: Iterable[BaselineEntry]) -> str:
    """Return the text of a baseline file with the given entries, one on each line for readable diffs and merges."""
    lines = [json.dumps(_entry_as_json(entry), ensure_ascii=False) for entry in sorted(entries)]
    listed = ",\n".join(f"    {line}" for line in lines)
    return f'{{\n  "version": {_VERSION},\n  "findings": [\n{listed}\n  ]\n}}\n'


def _entry_as_json(entry: BaselineEntry) -> dict[str, object]:
    """Return the JSON object for an entry; it has no members for what the entry lacks."""
    same = [{"file": file, "code": code, "fingerprint": fingerprint} for file, code, fingerprint in entry.others]
    return {
        "file": entry.file,
        "code": entry.code,
        "fingerprint": entry.fingerprint,
        "message": entry.message,
        **({"same": same} if same else {}),
        **({"through": list(entry.through)} if entry.through else {}),
    }


def baseline_entry(diagnostic: Diagnostic, file_of: Callable[[str], str]) -> BaselineEntry:
    """Return the entry that records a finding in a baseline file; `file_of` maps the names of files to those in it."""
    file = file_of(diagnostic.region.filename)
    own = (file, diagnostic.code, diagnostic.fingerprint)
    others = {(file_of(one.region.filename), one.code, one.fingerprint) for one in diagnostic.others} - {own}
    entries = {file_of(name) for name in diagnostic.entries}
    through = () if file in entries else tuple(sorted(entries))
    return BaselineEntry(*own, diagnostic.message, tuple(sorted(others)), through)


def compare_with_baseline(
    diagnostics: Sequence[Diagnostic],
    entries: Sequence[BaselineEntry],
    *,
    file_of: Callable[[str], str],
    is_judged: Callable[[BaselineEntry], bool],
    exists: Callable[[str], bool],
) -> BaselineComparison:
    """Compare findings with the entries of a baseline file, and return the new findings and the entries that are gone.

    An entry is gone if no finding matches it and it is judged: the run would have found what it records. An entry whose
    file no longer exists also covers an equal finding in another file: the code has moved. An entry also covers the
    findings of the same mistake at other places.
    """
    left = Counter(entry.key for entry in entries)
    moved = Counter(entry.moved_key for entry in entries if not exists(entry.file))
    unmatched = []
    for diagnostic in diagnostics:
        like = baseline_entry(diagnostic, file_of)
        if left[like.key] > 0:
            left[like.key] -= 1
        elif moved[like.moved_key] > 0:
            moved[like.moved_key] -= 1
        else:
            unmatched.append((diagnostic, like))
    new, mistakes = [], _Mistakes(entries)
    for diagnostic, like in unmatched:
        same = mistakes.same_as(like)
        if same is None:
            new.append(diagnostic)
        else:
            left[same.key] = moved[same.moved_key] = 0
    gone = [entry for entry in entries if is_judged(entry) and _remove_if_gone(entry, left, moved, exists)]
    return BaselineComparison(tuple(new), len(diagnostics) - len(new), tuple(gone))


def without_known(diagnostics: Sequence[Diagnostic], path: Path, path_of: Callable[[str], Path]) -> list[Diagnostic]:
    """Return those findings in one checked file that the baseline file at `path` does not record for this file.

    The findings have fingerprints; `path_of` returns the path of a file with a name. An answer to `reveal_placement` is
    never recorded. Raise NoBaselineError if there is no such file, and BaselineError if it cannot be used.
    """
    try:
        changed = path.stat().st_mtime_ns
    except FileNotFoundError:
        raise NoBaselineError(path) from None
    except OSError as problem:
        raise BaselineError(f"{path}: {problem.strerror}") from None
    mistakes = _mistakes(path, changed)
    left = Counter(mistakes.counts)
    new = []
    for diagnostic in diagnostics:
        like = baseline_entry(diagnostic, lambda name: Path(os.path.relpath(path_of(name), path.parent)).as_posix())
        if diagnostic.code == REVEALED:
            new.append(diagnostic)
        elif left[like.key] > 0:
            left[like.key] -= 1
        elif mistakes.same_as(like) is None:
            new.append(diagnostic)
    return new


class _Mistakes:
    """The mistakes that the entries of a baseline file record; `counts` has the number of entries by key."""

    def __init__(self, entries: Sequence[BaselineEntry]) -> None:
        self.counts = Counter(entry.key for entry in entries)
        self._by_key = {key: entry for entry in reversed(entries) for key in entry.keys}

    def same_as(self, like: BaselineEntry) -> BaselineEntry | None:
        """Return an entry that records the mistake of a finding at another place; None if no entry does."""
        found = (self._by_key.get(key) for key in (like.key, *like.others))
        return next((entry for entry in found if entry is not None and entry.key != like.key), None)


@lru_cache(maxsize=8)
def _mistakes(path: Path, changed: int) -> _Mistakes:
    """Return what the entries of a baseline file record, which was last changed at a time."""
    return _Mistakes(read_baseline(path))


def _remove_if_gone(
    entry: BaselineEntry,
    left: Counter[tuple[str, str, str]],
    moved: Counter[tuple[str, str]],
    exists: Callable[[str], bool],
) -> bool:
    """Return whether the finding that a judged baseline entry records is gone.

    If so, remove the entry from the counts of entries that no finding has matched.
    """
    if exists(entry.file):
        gone = left[entry.key] > 0
        left[entry.key] -= gone
        return gone
    gone = moved[entry.moved_key] > 0
    moved[entry.moved_key] -= gone
    return gone
