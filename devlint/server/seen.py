"""What was last seen of the program, for those who ask about one of its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from devlint.diagnostic import Diagnostic
from devlint.server.documents import Document, Part, closed_document
from devlint.server.session import Look
from devlint.server.views import View
from devlint.server.wording import Atlas


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is known of one text: the document it is a part of, the part that it is, and the view."""

    document: Document
    part: Part
    view: View

    def holds(self, diagnostic: Diagnostic) -> bool:
        """Whether a finding in the document is in this part of it."""
        return self.document.part_at(diagnostic.region.start.row) is self.part


@dataclass(frozen=True)
class Seen:
    """What was last seen: the documents as they then were, those with findings that are not open among them, and what
    was found in them."""

    documents: Mapping[Path, Document]
    views: Mapping[Path, View]
    atlas: Atlas

    def updated(self, opened: Mapping[Path, Document], look: Look, encoding: str) -> Seen:
        """What is known after a look; of files that it has not looked at, what was seen before."""
        views = look.views if look.is_whole else {**self.views, **look.views}
        closed = {
            path: closed_document(path, view.text, encoding)
            for path, view in views.items()
            if path not in opened and view.diagnostics
        }
        documents = {**closed, **opened}
        by_name = {path.as_posix(): document for path, document in documents.items()}
        texts = look.texts if look.is_whole else {**self.atlas.texts, **look.texts}
        return Seen(documents, views, Atlas(by_name, texts, encoding))

    def find(self, uri: str) -> Sighting | None:
        """What is known of one text."""
        return self._sightings.get(uri)

    @cached_property
    def _sightings(self) -> Mapping[str, Sighting]:
        return {
            part.uri: Sighting(document, part, self.views[path])
            for path, document in self.documents.items()
            if path in self.views
            for part in document.parts
        }
