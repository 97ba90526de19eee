"""The reading of a program's files: their texts, and the indexes of the statements in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from devlint.syntax.index import FileIndex, index_outlined, index_source, is_plain_python
from devlint.syntax.source import Source
from devlint.syntax.source_reading import decode_source, read_source
from devlint.syntax.statement_outline import FileOutline


class FileReader:
    """The files of a program as they are on the disk; `texts` replace the contents of the files at these paths."""

    def __init__(self, texts: Mapping[Path, bytes]) -> None:
        self._texts = {path.resolve(): data for path, data in texts.items()}
        self._outlines: dict[Path, FileOutline] = {}

    def source(self, path: Path, name: str) -> Source:
        """Return the text of a file; raises SourceError for a file that cannot be read."""
        data = self._texts.get(path)
        return decode_source(data, name) if data is not None else read_source(path, name)

    def index(self, path: Path, source: Source) -> FileIndex:
        """Return the index of a file that has a text; raises SourceError for a text that cannot be parsed."""
        outline = self._outlines.pop(path, None)
        return index_source(source) if outline is None else index_outlined(source, outline)

    def has_index(self, path: Path) -> bool:
        """Return whether the index of a file that was read is known without parsing the file."""
        return False

    def keep_outline(self, path: Path, outline: FileOutline) -> None:
        """Keep the outline of a file, found by another process, until its index is read."""
        self._outlines[path] = outline

    def is_plain(self, path: Path, source: Source) -> bool:
        """Return whether the running Python can parse the text of a file; its index is then made without an error."""
        return is_plain_python(source.text)
