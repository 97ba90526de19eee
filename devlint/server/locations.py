"""Conversion of regions of the program's source code to LSP locations (a URI and a range)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from lsprotocol import types

from devlint.diagnostic import Region
from devlint.server.documents import EditorDocument, uri_of_path
from devlint.server.position_encoding import PositionConverter


@dataclass(frozen=True, slots=True)
class LocationMap:
    """A converter of regions of the source code to LSP locations (a URI and a range).

    `documents` maps the names of open files to their documents, `texts` the names of other files to their texts.
    `encoding` is the position encoding on which client and server have agreed.
    """

    documents: Mapping[str, EditorDocument]
    texts: Mapping[str, str]
    encoding: str

    def location(self, region: Region) -> types.Location:
        """Return the LSP location (URI and range) of a region of the source code."""
        document = self.documents.get(region.filename)
        if document is not None:
            return document.location(region.start, region.end)
        positions = PositionConverter(self.texts.get(region.filename, ""), self.encoding)
        return types.Location(uri_of_path(region.filename), positions.range_between(region.start, region.end))

    def describe_line(self, region: Region, uri: str) -> str:
        """Return a description of the line on which a source region begins, such as "line 7 of train.py".

        The description names the file, or says "another cell", only if the region is not in the text with the URI
        `uri`.
        """
        location = self.location(region)
        words = f"line {location.range.start.line + 1}"
        if location.uri == uri:
            return words
        document = self.documents.get(region.filename)
        in_cell = document is not None and document.is_notebook
        return f"{words} of {'another cell' if in_cell else PurePosixPath(region.filename).name}"
