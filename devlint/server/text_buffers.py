"""Open texts of the editor, with the protocol's line ends and tolerant of positions outside of the text."""

from __future__ import annotations

from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from devlint.server.position_encoding import PositionConverter


class TextBuffer(TextDocument):
    """An open text of the editor. Unlike in `str.splitlines`, only `\\n`, `\\r\\n` and `\\r` end a line."""

    @property
    def positions(self) -> PositionConverter:
        """The converter of positions and offsets of the current text."""
        return PositionConverter(
            self.source, str(getattr(self.position_codec.encoding, "value", self.position_codec.encoding))
        )

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Replace a range of the text, or the whole text."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            text, positions = self.source, self.positions
            start, end = sorted((positions.offset(change.range.start), positions.offset(change.range.end)))
            self._source = text[:start] + change.text + text[end:]
        else:
            self._source = change.text


class BufferWorkspace(Workspace):
    """All open texts of the editor. Changes of texts that are not open are ignored."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextBuffer:
        return TextBuffer(doc_uri, source, version, language_id, position_codec=self.position_codec)

    def buffer(self, uri: str) -> TextBuffer | None:
        """Return the open text with a URI, or None."""
        found = self.text_documents.get(unquote(uri))
        return found if isinstance(found, TextBuffer) else None

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply a change to an open text."""
        if unquote(text_doc.uri) in self.text_documents:
            super().update_text_document(text_doc, change)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply changes to an open notebook."""
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)
