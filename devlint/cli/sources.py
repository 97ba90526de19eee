"""The lines of the files that a report quotes."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

_LINE_END = re.compile(r"\r\n|\r|\n")


class Sources:
    """Reads a file when it is first quoted. `paths` says where a reported name lies; `texts` holds what is no file."""

    def __init__(self, paths: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
        self._paths = paths
        self._texts = texts
        self._lines: dict[str, Sequence[str]] = {}

    def lines(self, filename: str, cell: int | None = None) -> Sequence[str]:
        """The lines without their ends; none where the file cannot be read."""
        if filename not in self._lines:
            self._lines[filename] = _LINE_END.split(_decoded(self._content(filename)))
        return self._lines[filename]

    def _content(self, filename: str) -> bytes:
        if filename in self._texts:
            return self._texts[filename]
        try:
            return self._paths.get(filename, Path(filename)).read_bytes()
        except OSError:
            return b""


def _decoded(content: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError:
        encoding = "utf-8"
    return content.decode(encoding, errors="replace")
