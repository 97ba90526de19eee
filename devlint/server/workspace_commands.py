"""Workspace commands: what a client can ask the server to execute (`workspace/executeCommand`)."""

from __future__ import annotations

from lsprotocol import types

from devlint.server.language_server import DevlintServer
from devlint.server.rule_pages import write_rule_page


async def show_documentation(server: DevlintServer, code: str) -> None:
    """Open the documentation page of a rule, or show its address if the client cannot open pages."""
    url = write_rule_page(code)
    if url is None:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"See `devlint rule {code}`"))
        return
    if server.client_features.shows_documents:
        await server.window_show_document_async(types.ShowDocumentParams(url, external=True))
    else:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, url))


async def go_to_cause(server: DevlintServer, uri: str, line: int, character: int) -> None:
    """Show in the editor where a tensor was created or moved, or name the line if the client cannot open documents.

    `line` and `character` count from 0, as in the Language Server Protocol.
    """
    position = types.Position(line, character)
    if server.client_features.shows_documents:
        selection = types.Range(position, position)
        await server.window_show_document_async(types.ShowDocumentParams(uri, take_focus=True, selection=selection))
    else:
        message = f"{uri}, line {line + 1}"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
