"""Access to the lines of the checked files and notebook cells, for reports that quote source code."""

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
    """The lines of the checked files. Each file is read when a report first quotes it.

    `paths` maps file names in reports to paths on the disk; `texts` has the contents that are not on the disk, by file
    name.
    """

    def __init__(self, paths: Mapping[str, Path], texts: Mapping[str, bytes]) -> None:
        self._paths = paths
        self._texts = texts
        self._lines: dict[tuple[str, int | None], Sequence[str]] = {}
        self._notebooks: dict[str, Notebook] = {}

    def lines(self, filename: str, cell: int | None = None) -> Sequence[str]:
        """Return the lines of a file or of a notebook cell, without line endings.

        No lines if the file cannot be read.
        """
        key = (filename, cell)
        if key not in self._lines:
            self._lines[key] = NEWLINE.split(self._text(filename)) if cell is None else self._cell(filename, cell)
        return self._lines[key]

    def path(self, filename: str) -> Path:
        """Return the path on the disk of the file that reports call `filename`."""
        return self._paths.get(filename, Path(filename))

    def with_file_rows(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a copy of a diagnostic whose positions are rows of the notebook's JSON file instead of rows of cells.

        Report formats that cannot name notebook cells need it. A diagnostic outside notebooks keeps its positions. The
        fix of a finding in a cell is dropped, because its edits count rows within the cell.
        """
        trace = tuple(replace(note, region=self.region_in_file(note.region)) for note in diagnostic.trace)
        fix = diagnostic.fix if diagnostic.region.cell is None else None
        return replace(diagnostic, region=self.region_in_file(diagnostic.region), trace=trace, fix=fix)

    def region_in_file(self, region: Region) -> Region:
        """Return a region of a notebook cell as rows of the notebook's JSON file; any other region unchanged.

        The result spans whole rows, those that contain the region.
        """
        if region.cell is None:
            return region
        notebook = self._notebook(region.filename)
        first, last = (notebook.row_in_file(region.cell, place.row) for place in (region.start, region.end))
        end = len(self.lines(region.filename)[last - 1]) + 1
        return Region(region.filename, Position(first, 1), Position(last, end))

    def _cell(self, filename: str, cell: int) -> Sequence[str]:
        """Return the lines of a notebook cell; an empty sequence if the notebook cannot be read."""
        try:
            return self._notebook(filename).lines(cell)
        except SourceError:
            return ()

    def _notebook(self, filename: str) -> Notebook:
        """Return the parsed notebook with the given file name. The file is read at the first call."""
        if filename not in self._notebooks:
            self._notebooks[filename] = read_notebook(self._content(filename))
        return self._notebooks[filename]

    def _text(self, filename: str) -> str:
        """Return a file's text, decoded as Python source or, if that fails, as UTF-8 with replacement characters."""
        content = self._content(filename)
        if not filename.endswith(SUFFIX):
            try:
                return decode_source(content, filename).text
            except SourceError:
                pass
        # Text that is not valid Python source is reported as a finding, and still quoted as far as possible.
        return content.decode("utf-8", errors="replace")

    def _content(self, filename: str) -> bytes:
        """Return the content of a file as bytes; empty bytes if the file cannot be read."""
        if filename in self._texts:
            return self._texts[filename]
        try:
            return self.path(filename).read_bytes()
        except OSError:
            return b""
