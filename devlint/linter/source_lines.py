"""The lines of the files that a report quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from devlint.diagnostic import Diagnostic, Position, Region
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.notebook import SUFFIX, Notebook, read_notebook
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source


class SourceLines:
    """Reads a file when it is first quoted. `paths` says where a reported name lies; `texts` holds what is no file."""

    def __init__(self, paths: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
        self._paths = paths
        self._texts = texts
        self._lines: dict[tuple[str, int | None], Sequence[str]] = {}
        self._notebooks: dict[str, Notebook] = {}

    def lines(self, filename: str, cell: int | None = None) -> Sequence[str]:
        """The lines of a file, or of a cell of a notebook, without their ends; none where it cannot be read."""
        key = (filename, cell)
        if key not in self._lines:
            self._lines[key] = NEWLINE.split(self._text(filename)) if cell is None else self._cell(filename, cell)
        return self._lines[key]

    def path(self, filename: str) -> Path:
        """Where the file lies."""
        return self._paths.get(filename, Path(filename))

    def in_file(self, diagnostic: Diagnostic) -> Diagnostic:
        """The finding for those who know no cells: at rows of the file that the notebook is, and without its fix."""
        trace = tuple(replace(note, region=self.region_in_file(note.region)) for note in diagnostic.trace)
        fix = diagnostic.fix if diagnostic.region.cell is None else None
        return replace(diagnostic, region=self.region_in_file(diagnostic.region), trace=trace, fix=fix)

    def region_in_file(self, region: Region) -> Region:
        """The rows of the file that hold a region of a notebook's cell; any other region as it is."""
        if region.cell is None:
            return region
        notebook = self._notebook(region.filename)
        first, last = (notebook.row_in_file(region.cell, place.row) for place in (region.start, region.end))
        end = len(self.lines(region.filename)[last - 1]) + 1
        return Region(region.filename, Position(first, 1), Position(last, end))

    def _cell(self, filename: str, cell: int) -> Sequence[str]:
        try:
            return self._notebook(filename).lines(cell)
        except SourceError:
            return ()

    def _notebook(self, filename: str) -> Notebook:
        if filename not in self._notebooks:
            self._notebooks[filename] = read_notebook(self._content(filename))
        return self._notebooks[filename]

    def _text(self, filename: str) -> str:
        content = self._content(filename)
        if not filename.endswith(SUFFIX):
            try:
                return decode_source(content, filename).text
            except SourceError:
                pass
        # What is no Python is reported as that, and quoted as well as it can be.
        return content.decode("utf-8", errors="replace")

    def _content(self, filename: str) -> bytes:
        if filename in self._texts:
            return self._texts[filename]
        try:
            return self.path(filename).read_bytes()
        except OSError:
            return b""
