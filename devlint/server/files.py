"""The files of the program as the editor sees them: open texts over what lies on the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from devlint.server.drafts import Draft
from devlint.server.memory import Delta
from devlint.syntax.incremental_index import reindex_source
from devlint.syntax.index import FileIndex, Statement, index_source
from devlint.syntax.source import SourceError, source_from_text
from devlint.syntax.source_reading import read_source

Stamp: TypeAlias = tuple[int, int]
"""When a file was written, and how long it is."""

_NOTHING: Final[frozenset[Statement]] = frozenset()


class Files:
    """Indexes of files, each kept until its text changes, and its statements until theirs do."""

    def __init__(self) -> None:
        self._drafts: dict[Path, Draft] = {}
        self._on_disk: dict[Path, tuple[Stamp, FileIndex | SourceError]] = {}

    def open(self, texts: Mapping[Path, str]) -> Sequence[Delta]:
        """These are the texts that are open now, and no others; what is different in the files known so far."""
        before = {path: self._statements(path) for path in {*self._drafts, *self._on_disk}}
        for path in self._drafts.keys() - texts.keys():
            self._on_disk[path] = (0, 0), _known(self._drafts.pop(path))
        for path, text in texts.items():
            draft = self._drafts.get(path)
            if draft is not None:
                draft.update(text)
                continue
            _, known = self._on_disk.pop(path, (None, None))
            make = partial(source_from_text, filename=path.as_posix())
            self._drafts[path] = Draft(text, make, known if isinstance(known, FileIndex) else None)
        for path, (stamp, index) in self._on_disk.items():
            if stamp != stamp_of(path):
                self._on_disk[path] = stamp_of(path), _read(path, index)
        return [*self._deltas(before)]

    def draft(self, path: Path) -> Draft | None:
        """The open text of a file."""
        return self._drafts.get(path)

    def index(self, path: Path) -> FileIndex:
        """The index of a file, by its resolved path. Raises SourceError where it cannot be read or parsed."""
        draft = self._drafts.get(path)
        if draft is not None:
            return draft.index
        if path not in self._on_disk:
            self._on_disk[path] = stamp_of(path), _read(path, None)
        index = self._on_disk[path][1]
        if isinstance(index, SourceError):
            raise index
        return index

    def text(self, name: str) -> str:
        """The text of a file by the name under which it is analysed: as the editor shows it, where it is open."""
        path = Path(name)
        draft = self._drafts.get(path)
        try:
            return draft.text if draft is not None else self.index(path).source.text
        except SourceError:
            return ""

    def statements(self, paths: Iterable[Path] | None = None) -> Iterator[Statement]:
        """All statements of some files, or of all that are known so far."""
        for path in {*self._drafts, *self._on_disk} if paths is None else paths:
            yield from self._statements(path)

    def _deltas(self, before: Mapping[Path, frozenset[Statement]]) -> Iterator[Delta]:
        for path in {*self._drafts, *self._on_disk}:
            then, now = before.get(path, _NOTHING), self._statements(path)
            if then != now:
                yield Delta(path, then - now, now - then)

    def _statements(self, path: Path) -> frozenset[Statement]:
        draft = self._drafts.get(path)
        index = _known(draft) if draft is not None else self._on_disk[path][1]
        return frozenset(index.statements) if isinstance(index, FileIndex) else _NOTHING


def _known(draft: Draft) -> FileIndex | SourceError:
    try:
        return draft.index
    except SourceError as error:
        return error


def _read(path: Path, known: FileIndex | SourceError | None) -> FileIndex | SourceError:
    try:
        source = read_source(path)
        return reindex_source(known, source) if isinstance(known, FileIndex) else index_source(source)
    except SourceError as error:
        return error


def stamp_of(path: Path) -> Stamp:
    """What changes whenever a file does; also of one that is not there."""
    try:
        found = path.stat()
    except OSError:
        return 0, -1
    return found.st_mtime_ns, found.st_size
