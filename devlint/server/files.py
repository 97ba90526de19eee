"""The files of the program as the editor sees them: open texts over what lies on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from devlint.server.drafts import Draft
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import SourceError, checked_source, read_source

_Stamp = tuple[int, int]


class Files:
    """Indexes of files, each kept until its text changes."""

    def __init__(self) -> None:
        self._drafts: dict[Path, Draft] = {}
        self._on_disk: dict[Path, tuple[_Stamp, FileIndex | SourceError]] = {}

    def open(self, texts: Mapping[Path, str]) -> None:
        """These are the texts that are open now, and no others."""
        for path in self._drafts.keys() - texts.keys():
            del self._drafts[path]
        for path, text in texts.items():
            draft = self._drafts.get(path)
            if draft is None:
                self._drafts[path] = Draft(text, partial(checked_source, filename=path.as_posix()))
            else:
                draft.update(text)

    def draft(self, path: Path) -> Draft | None:
        """The open text of a file."""
        return self._drafts.get(path)

    def index(self, path: Path) -> FileIndex:
        """The index of a file, by its resolved path. Raises SourceError where it cannot be read or parsed."""
        draft = self._drafts.get(path)
        if draft is not None:
            return draft.index
        stamp = _stamp(path)
        known = self._on_disk.get(path)
        if known is None or known[0] != stamp:
            known = self._on_disk[path] = stamp, _read(path)
        if isinstance(known[1], SourceError):
            raise known[1]
        return known[1]

    def text(self, name: str) -> str:
        """The text of a file by the name under which it is analysed: as the editor shows it, where it is open."""
        path = Path(name)
        draft = self._drafts.get(path)
        try:
            return draft.text if draft is not None else self.index(path).source.text
        except SourceError:
            return ""


def _read(path: Path) -> FileIndex | SourceError:
    try:
        return index_source(read_source(path))
    except SourceError as error:
        return error


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return 0, -1
    return found.st_mtime_ns, found.st_size
