"""Texts open in the editor, with line ends as in the Language Server Protocol; positions may lie outside of a text."""

from __future__ import annotations

from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from devlint.server.position_encoding import PositionConverter


class TextBuffer(TextDocument):
    r"""A text that is open in the editor. Only `\n`, `\r\n` and `\r` end a line, unlike in `str.splitlines`."""

    @property
    def positions(self) -> PositionConverter:
        """A converter between LSP positions and offsets in the current text."""
        return PositionConverter(
            self.source, str(getattr(self.position_codec.encoding, "value", self.position_codec.encoding))
        )

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Apply a change that the client reports: replace a range of the text, or the whole text."""
        if isinstance(change, types.TextDocumentContentChangePartial):
            text, positions = self.source, self.positions
            start, end = sorted((positions.offset(change.range.start), positions.offset(change.range.end)))
            self._source = text[:start] + change.text + text[end:]
        else:
            self._source = change.text


class BufferWorkspace(Workspace):
    """A pygls workspace with all texts that are open in the editor. Changes of texts that are not open are ignored."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextBuffer:
        return TextBuffer(doc_uri, source, version, language_id, position_codec=self.position_codec)

    def buffer(self, uri: str) -> TextBuffer | None:
        """Return the open text with a URI, or None if no open text has it."""
        found = self.text_documents.get(unquote(uri))
        return found if isinstance(found, TextBuffer) else None

    def update_text_document(
        self, text_doc: types.VersionedTextDocumentIdentifier, change: types.TextDocumentContentChangeEvent
    ) -> None:
        """Apply a change that the client reports to an open text; ignore a change of a text that is not open."""
        if unquote(text_doc.uri) in self.text_documents:
            super().update_text_document(text_doc, change)

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply changes that the client reports to an open notebook; ignore those of a notebook that is not open."""
        if unquote(params.notebook_document.uri) in self.notebook_documents:
            super().update_notebook_document(params)
