"""A simulated editor for the tests: it types into documents, over a client of the protocol."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

from devlint.server.position_encoding import PositionConverter

PATIENCE = 60
"""The seconds after which a test no longer waits for an answer: a busy machine may be slow, a broken server hangs."""


def _client() -> LanguageClient:
    client = make_test_lsp_client()
    client.registered = {}

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def registered(params: types.RegistrationParams) -> None:
        client.registered.update({one.method: one.register_options for one in params.registrations})

    @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
    def refreshed(params: None) -> None: ...

    return client


_CACHE = tempfile.TemporaryDirectory()
CONFIG = ClientServerConfig(
    server_command=[sys.executable, "-m", "devlint", "server"],
    server_env={**os.environ, "XDG_CACHE_HOME": _CACHE.name},
    client_factory=_client,
)


class Editor:
    """The actions of a user. `pushed` has the diagnostics that the server has pushed, in order."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.encoding = "utf-16"
        self.pushed: list[types.PublishDiagnosticsParams] = []

        def published(params: types.PublishDiagnosticsParams) -> None:
            self.pushed.append(params)
            client.diagnostics[params.uri] = params.diagnostics

        # pytest-lsp's own handler keeps no versions.
        client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = published

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str) -> str:
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replace the first occurrence, as a change of a range in UTF-16."""
        text = self.texts[uri]
        start = text.index(old)
        self.edit(uri, _position(text, start), _position(text, start + len(old)), new)
        self.texts[uri] = text[:start] + new + text[start + len(old) :]

    def edit(self, uri: str, start: types.Position, end: types.Position, new: str) -> None:
        """Send a change of a range, even an invalid one."""
        change = types.TextDocumentContentChangePartial(types.Range(start, end), new)
        self._changed(uri, change)

    def write(self, uri: str, text: str) -> None:
        """Replace everything."""
        self.texts[uri] = text
        self._changed(uri, types.TextDocumentContentChangeWholeDocument(text))

    def document(self, uri: str) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(uri)

    def place(self, uri: str, marked: str) -> types.Position:
        """The position at `|` in a piece of the text."""
        before, _, after = marked.partition("|")
        return _position(self.texts[uri], self.texts[uri].index(before + after) + len(before))

    def all(self, uri: str) -> types.Range:
        return types.Range(types.Position(0, 0), _position(self.texts[uri], len(self.texts[uri])))

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Apply a workspace edit."""
        changes = dict(edit.changes or {})
        for one in edit.document_changes or ():
            assert one.text_document.version in (None, self.versions[one.text_document.uri])
            changes[one.text_document.uri] = one.edits
        for uri, edits in changes.items():
            positions = PositionConverter(self.texts[uri], self.encoding)
            text = self.texts[uri]
            for one in sorted(edits, key=lambda one: positions.offset(one.range.start), reverse=True):
                text = (
                    text[: positions.offset(one.range.start)] + one.new_text + text[positions.offset(one.range.end) :]
                )
            self.write(uri, text)

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def reported(self, uri: str) -> list[types.Diagnostic]:
        """The findings that the server pushes for the newest state of a document."""
        version = self.versions[uri]
        await self.until(lambda: any(one.uri == uri and one.version == version for one in self.pushed))
        found = next(one.diagnostics for one in reversed(self.pushed) if one.uri == uri)
        return sorted(found, key=lambda one: (one.range.start.line, one.range.start.character))

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait for something to become true."""
        async with asyncio.timeout(PATIENCE) if sys.version_info >= (3, 11) else _Forever():
            while not holds():
                await asyncio.sleep(0.01)

    def _changed(self, uri: str, change: types.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] = self.versions.get(uri, 0) + 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))


class _Forever:
    """A stand-in for `asyncio.timeout`, without a limit, for Python versions that lack it."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


def _position(text: str, offset: int) -> types.Position:
    """Return a position in UTF-16, computed without the server's code."""
    before = text[:offset]
    line = before.count("\n")
    return types.Position(line, len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)


def codes(found: list[types.Diagnostic]) -> list[tuple[int, Any]]:
    """Return the lines and codes of findings."""
    return [(one.range.start.line, one.code) for one in found]


def neovim() -> types.ClientCapabilities:
    """Return the capabilities of Neovim, which gets pushed diagnostics and uses UTF-8."""
    return _with_versions(client_capabilities("neovim@v0.11.0"))


def vscode() -> types.ClientCapabilities:
    """Return the capabilities of an old Visual Studio Code, which gets pushed diagnostics and uses UTF-16."""
    return _with_versions(client_capabilities("visual-studio-code@v1.65.2"))


def _with_versions(found: types.ClientCapabilities) -> types.ClientCapabilities:
    """Add support for document versions in diagnostics, since the tests wait for a version."""
    assert found.text_document is not None and found.text_document.publish_diagnostics is not None
    found.text_document.publish_diagnostics.version_support = True
    return found


def pulling() -> types.ClientCapabilities:
    """Return the capabilities of Visual Studio Code, which pulls diagnostics and can be asked to pull again."""
    found = vscode()
    assert found.text_document is not None and found.workspace is not None
    found.text_document.diagnostic = types.DiagnosticClientCapabilities(dynamic_registration=True)
    found.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    return found


def pulling_but_deaf() -> types.ClientCapabilities:
    """Return the capabilities of Neovim 0.10, which pulls diagnostics but cannot be asked to pull again."""
    found = neovim()
    assert found.text_document is not None
    found.text_document.diagnostic = types.DiagnosticClientCapabilities()
    return found
