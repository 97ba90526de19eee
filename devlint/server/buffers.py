"""The texts that the editor holds, kept as the protocol says: its lines, and positions that may lie anywhere."""

from __future__ import annotations

from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from devlint.server.rulers import Ruler


class Buffer(TextDocument):
    """An open document. Only `\\n`, `\\r\\n` and `\\r` end a line, unlike in `str.splitlines`."""

    @property
    def ruler(self) -> Ruler:
        """Measures the text as it is now."""
        return Ruler(self.source, str(getattr(self.position_codec.encoding, "value", self.position_codec.encoding)))

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Replace a part of the text, or all of it."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            text, ruler = self.source, self.ruler
            start, end = sorted((ruler.offset(change.range.start), ruler.offset(change.range.end)))
            self._source = text[:start] + change.text + text[end:]
        else:
            self._source = change.text


class Buffers(Workspace):
    """All open documents. What is said of a document that is not open is passed over."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Buffer:
        return Buffer(doc_uri, source, version, language_id, position_codec=self.position_codec)

    def buffer(self, uri: str) -> Buffer | None:
        """The open document of that name."""
        found = self.text_documents.get(unquote(uri))
        return found if isinstance(found, Buffer) else None

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Change a document."""
        if unquote(text_doc.uri) in self.text_documents:
            super().update_text_document(text_doc, change)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Change a notebook."""
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)
