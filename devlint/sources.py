"""The lines of the files that a report quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from devlint.syntax.lines import NEWLINE
from devlint.syntax.source import SourceError, decode_source


class Sources:
    """Reads a file when it is first quoted. `paths` says where a reported name lies; `texts` holds what is no file."""

    def __init__(self, paths: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
        self._paths = paths
        self._texts = texts
        self._lines: dict[str, Sequence[str]] = {}

    def lines(self, filename: str, cell: int | None = None) -> Sequence[str]:
        """The lines without their ends; none where the file cannot be read."""
        if filename not in self._lines:
            self._lines[filename] = NEWLINE.split(_decoded(self._content(filename), filename))
        return self._lines[filename]

    def path(self, filename: str) -> Path:
        """Where the file lies."""
        return self._paths.get(filename, Path(filename))

    def _content(self, filename: str) -> bytes:
        if filename in self._texts:
            return self._texts[filename]
        try:
            return self.path(filename).read_bytes()
        except OSError:
            return b""


def _decoded(content: bytes, filename: str) -> str:
    try:
        return decode_source(content, filename).text
    except SourceError:
        # A file that is no Python is reported as that, and quoted as well as it can be.
        return content.decode("utf-8", errors="replace")
