"""The source files of a program as the editor sees them: open texts, and other files as they are on the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from devlint.server.entry_cache import StatementDelta
from devlint.server.error_recovery import RecoveredText
from devlint.syntax.incremental_index import reindex_source
from devlint.syntax.index import FileIndex, Statement, index_source
from devlint.syntax.source import SourceError, source_from_text
from devlint.syntax.source_reading import read_source

FileStamp: TypeAlias = tuple[int, int]
"""The modification time of a file in nanoseconds, and its size in bytes."""

_NO_STATEMENTS: Final[frozenset[Statement]] = frozenset()


class ProgramFiles:
    """A store of the syntax indexes (top-level statements with their names) of a program's files.

    An index, and each statement in it, is kept until its text changes.
    """

    def __init__(self) -> None:
        self._recovered_texts: dict[Path, RecoveredText] = {}
        self._on_disk: dict[Path, tuple[FileStamp, FileIndex | SourceError]] = {}

    def update_open_texts(self, texts: Mapping[Path, str]) -> Sequence[StatementDelta]:
        """Set the texts that are open in the editor, and return the changed top-level statements of each file."""
        before = {path: self._statements(path) for path in {*self._recovered_texts, *self._on_disk}}
        for path in self._recovered_texts.keys() - texts.keys():
            self._on_disk[path] = (0, 0), _index_of(self._recovered_texts.pop(path))
        for path, text in texts.items():
            open_text = self._recovered_texts.get(path)
            if open_text is not None:
                open_text.update(text)
                continue
            _, known = self._on_disk.pop(path, (None, None))
            make = partial(source_from_text, filename=path.as_posix())
            self._recovered_texts[path] = RecoveredText(text, make, known if isinstance(known, FileIndex) else None)
        for path, (stamp, index) in self._on_disk.items():
            if stamp != file_stamp(path):
                self._on_disk[path] = file_stamp(path), _read(path, index)
        return [*self._deltas(before)]

    def recovered_text(self, path: Path) -> RecoveredText | None:
        """Return the text of an open file with the parsable text that is analysed in its stead.

        Return None if the file is not open.
        """
        return self._recovered_texts.get(path)

    def index(self, path: Path) -> FileIndex:
        """Return the syntax index (the top-level statements and their names) of the file with a resolved path.

        Raise SourceError if the file does not parse.
        """
        open_text = self._recovered_texts.get(path)
        if open_text is not None:
            return open_text.index
        if path not in self._on_disk:
            self._on_disk[path] = file_stamp(path), _read(path, None)
        index = self._on_disk[path][1]
        if isinstance(index, SourceError):
            raise index
        return index

    def text(self, name: str) -> str:
        """Return the text of the file with a name: the editor's text if the file is open, else the text on the disk.

        Return "" if a file that is not open cannot be read or parsed.
        """
        path = Path(name)
        open_text = self._recovered_texts.get(path)
        try:
            return open_text.text if open_text is not None else self.index(path).source.text
        except SourceError:
            return ""

    def statements(self, paths: Iterable[Path] | None = None) -> Iterator[Statement]:
        """Yield all top-level statements of the given files, or of all files that were read so far."""
        for path in {*self._recovered_texts, *self._on_disk} if paths is None else paths:
            yield from self._statements(path)

    def _deltas(self, before: Mapping[Path, frozenset[Statement]]) -> Iterator[StatementDelta]:
        """Yield the added and the removed top-level statements of each file that has changed.

        `before` has the statements of the files in the earlier state with which the current state is compared.
        """
        for path in {*self._recovered_texts, *self._on_disk}:
            then, now = before.get(path, _NO_STATEMENTS), self._statements(path)
            if then != now:
                yield StatementDelta(path, then - now, now - then)

    def _statements(self, path: Path) -> frozenset[Statement]:
        """Return the top-level statements of a file that was read before; an empty set if the file does not parse."""
        open_text = self._recovered_texts.get(path)
        index = _index_of(open_text) if open_text is not None else self._on_disk[path][1]
        return frozenset(index.statements) if isinstance(index, FileIndex) else _NO_STATEMENTS


def _index_of(open_text: RecoveredText) -> FileIndex | SourceError:
    """Return the syntax index of an open text, or its SourceError if the text has never parsed."""
    try:
        return open_text.index
    except SourceError as error:
        return error


def _read(path: Path, known: FileIndex | SourceError | None) -> FileIndex | SourceError:
    """Read a file and return its syntax index, or the SourceError if it cannot be read or parsed.

    If `known` is an earlier index of the file, its unchanged statements are reused.
    """
    try:
        source = read_source(path)
        return reindex_source(known, source) if isinstance(known, FileIndex) else index_source(source)
    except SourceError as error:
        return error


def file_stamp(path: Path) -> FileStamp:
    """Return a value that changes whenever a file on the disk changes; a missing file has a value of its own."""
    try:
        found = path.stat()
    except OSError:
        return 0, -1
    return found.st_mtime_ns, found.st_size
