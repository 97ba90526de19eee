"""The server with all that it can do."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from devlint.server import lifecycle
from devlint.server.actions import KINDS, SHOW_DOCUMENTATION, actions, resolve
from devlint.server.commands import go_to_cause, lenses, show_documentation
from devlint.server.hints import hints
from devlint.server.hover import hover
from devlint.server.server import GO_TO_CAUSE, DevlintServer

CHANGES = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.TEXT_DOCUMENT_DID_SAVE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)


def create_server() -> DevlintServer:
    """A server that waits for a client."""
    server = DevlintServer()
    server.feature(types.INITIALIZE)(lifecycle.initialize)
    server.feature(types.INITIALIZED)(lifecycle.initialized)
    server.feature(types.SHUTDOWN)(lifecycle.shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(lifecycle.configured)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(lifecycle.folders_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lifecycle.files_changed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(hints)
    options = types.CodeActionOptions(KINDS, resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(actions)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve)
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(lenses)
    server.command(SHOW_DOCUMENTATION)(show_documentation)
    server.command(GO_TO_CAUSE)(go_to_cause)
    for method in CHANGES:
        server.feature(method)(_changed)
    return server


def _changed(server: DevlintServer, params: Any) -> None:
    """A text has changed; the workspace has it already."""
    server.change()
