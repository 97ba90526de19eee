"""The report of a whole run in the cache, under the digest of the given files, the settings and devlint itself.

Besides the given files, a run asks the disk which modules exist, and reads the modules that the files import. These
questions are stored with the report, and asked again before it is used. Paths are relative to the root of the project,
so that a cache is of use in another place too.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.cache.digests import digest_of, digest_of_bytes, digest_of_file, engine_digest
from devlint.cache.store import ProjectCache
from devlint.diagnostic import Diagnostic, Region
from devlint.interpreter.program.disk_reads import DiskReads
from devlint.interpreter.state.failures import UnparsedStatement
from devlint.linter.analysis_report import AnalysisReport
from devlint.linter.json_records import from_json, to_json
from devlint.linter.project_texts import project_texts, texts_digest
from devlint.linter.run_work import RunWork
from devlint.linter.shard import Shard
from devlint.syntax.source_reading import shown_name

_SEARCHED_ABOVE: Final = 4
"""The number of folders above a file in which imports are searched at most."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run is asked to do: the files by their real path with the names to show, and what settings say of them.

    `texts` replace the contents of files, by the name to show. With a `shard`, the run is over its part of the files.
    """

    files: Mapping[Path, str]
    codes: frozenset[str]
    src: Sequence[Path]
    models: Sequence[Path]
    texts: Mapping[str, bytes]
    shard: Shard | None = None


@dataclass(frozen=True, slots=True)
class _StoredReport:
    """A report with the questions to the disk on which it depends, their answers, and paths relative to the root."""

    diagnostics: tuple[Diagnostic, ...]
    unparsed_statements: tuple[UnparsedStatement, ...]
    checked: int
    are_files: tuple[tuple[str, bool], ...]
    exist: tuple[tuple[str, bool], ...]
    modules_in: tuple[tuple[str, str], ...]
    installed: tuple[tuple[str, bool], ...]
    contents: tuple[tuple[str, str | None], ...]
    project_texts: str | None
    in_project: tuple[str, ...]


class StoredRun:
    """The place in a project's cache for the report of one run."""

    def __init__(self, cache: ProjectCache, inputs: RunInputs) -> None:
        self._store = cache.store
        self._root = Path(os.path.realpath(cache.root))
        self._inputs = inputs

    def find(self) -> AnalysisReport | None:
        """Return the report of an earlier run if everything is as it was then, otherwise None."""
        data = self._store.read(self._key) if self._key is not None else None
        if data is None:
            return None
        try:
            stored = from_json(_StoredReport, data)
        except (TypeError, ValueError, LookupError):
            return None
        if not self._is_valid(stored):
            return None
        names = {self._relative(path): name for path, name in self._inputs.files.items()}

        def shown(name: str) -> str:
            return names[name] if name in names else shown_name(self._root / name)

        found = (_renamed(one, shown) for one in stored.diagnostics)
        left_out = (replace(one, filename=shown(one.filename)) for one in stored.unparsed_statements)
        diagnostics = tuple(sorted(found, key=lambda one: one.order))
        work = RunWork(from_cache=stored.checked)
        return AnalysisReport(diagnostics, (), tuple(left_out), stored.checked, work=work)

    def keep(self, report: AnalysisReport) -> None:
        """Store the report of this run if it is reproducible, unless a file has changed while it ran."""
        if self._key is None or report.errors or not report.is_reproducible or self._key != self._compute_key():
            return
        names = {name: self._relative(path) for path, name in {**report.read, **self._inputs.files}.items()}

        def relative(name: str) -> str:
            return names[name]

        others = [path for path in report.read if path not in self._inputs.files]
        stored = _StoredReport(
            tuple(_renamed(one, relative) for one in report.diagnostics),
            tuple(replace(one, filename=relative(one.filename)) for one in report.unparsed_statements),
            report.checked,
            tuple((self._relative(path), found) for path, found in report.disk.are_files.items()),
            tuple((self._relative(path), found) for path, found in report.disk.exist.items()),
            tuple((self._relative(path), digest_of(sorted(names))) for path, names in report.disk.modules_in.items()),
            tuple((self._relative(path), found) for path, found in report.disk.installed.items()),
            tuple((self._relative(path), digest_of_file(path)) for path in others),
            report.disk.project_texts,
            tuple(self._relative(path) for path in report.disk.in_project),
        )
        self._store.write(self._key, to_json(stored))

    @cached_property
    def _key(self) -> str | None:
        """The key of the report: the digest of all that is known before the run; None if a file cannot be read."""
        return self._compute_key()

    def _compute_key(self) -> str | None:
        """Return the key for the files as they are now; None if one of them cannot be read."""
        inputs = self._inputs
        given = {self._relative(path): self._content(path, name) for path, name in inputs.files.items()}
        models = [digest_of_file(path) for path in inputs.models]
        if None in given.values() or None in models:
            return None
        depth = min(len(self._root.parts), _SEARCHED_ABOVE)
        src = [self._relative(Path(os.path.realpath(folder))) for folder in inputs.src]
        shard = None if inputs.shard is None else str(inputs.shard)
        return digest_of(["run", engine_digest(), sorted(inputs.codes), src, models, depth, given, shard])

    def _content(self, path: Path, name: str) -> str | None:
        """Return the digest of what a file holds, or of the text that replaces it; None if it cannot be read."""
        return digest_of_bytes(self._inputs.texts[name]) if name in self._inputs.texts else digest_of_file(path)

    def _relative(self, path: Path) -> str:
        """Return a path as seen from the root of the project."""
        return Path(os.path.relpath(path, self._root)).as_posix()

    def _is_valid(self, stored: _StoredReport) -> bool:
        """Return whether all questions to the disk on which a report depends have the same answers now."""
        if not _hold(stored.are_files, self._root, os.path.isfile) or not _hold(
            stored.exist, self._root, os.path.exists
        ):
            return False
        disk = DiskReads()
        if any(disk.is_installed(self._root / name) is not found for name, found in stored.installed):
            return False
        if any(digest_of(sorted(disk.modules(self._root / name))) != digest for name, digest in stored.modules_in):
            return False
        if any(digest_of_file(self._root / name) != digest for name, digest in stored.contents):
            return False
        if stored.project_texts is None:
            return True
        around = {self._root / name for name in stored.in_project}
        return texts_digest(project_texts(around, disk)) == stored.project_texts


def _renamed(diagnostic: Diagnostic, rename: Callable[[str], str]) -> Diagnostic:
    """Return a finding with other names of files."""

    def moved(region: Region) -> Region:
        return replace(region, filename=rename(region.filename))

    return replace(
        diagnostic,
        region=moved(diagnostic.region),
        trace=tuple(replace(one, region=moved(one.region)) for one in diagnostic.trace),
        assumptions=tuple(
            one if one.region is None else replace(one, region=moved(one.region)) for one in diagnostic.assumptions
        ),
        others=tuple(replace(one, region=moved(one.region)) for one in diagnostic.others),
        entries=tuple(map(rename, diagnostic.entries)),
    )


def _hold(answers: Sequence[tuple[str, bool]], root: Path, ask: Callable[[str], bool]) -> bool:
    """Return whether questions on paths below a root have the same answers now; `ask` answers one.

    Most of them ask for modules that are not there: one look into each folder answers those.
    """
    by_folder: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for path, expected in answers:
        folder, _, name = path.rpartition("/")
        by_folder[folder].append((name, expected))
    for folder, asked in by_folder.items():
        place = root / folder
        there = _names_in(place) if not folder.startswith("..") else None
        for name, expected in asked:
            if (there is None or name.casefold() in there) and ask(f"{place}/{name}"):
                if not expected:
                    return False
            elif expected:
                return False
    return True


def _names_in(folder: Path) -> frozenset[str]:
    """Return the names in a folder, in small letters; none if it cannot be read."""
    try:
        return frozenset(one.name.casefold() for one in folder.iterdir())
    except OSError:
        return frozenset()
