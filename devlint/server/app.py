"""Assembly of the language server: creation of the server and registration of its request handlers."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from devlint.server import lsp_lifecycle
from devlint.server.code_actions import ACTION_KINDS, SHOW_DOCUMENTATION, code_actions, resolve_code_action
from devlint.server.code_lenses import code_lenses
from devlint.server.hover import hover
from devlint.server.inlay_hints import inlay_hints
from devlint.server.language_server import GO_TO_CAUSE, DevlintServer
from devlint.server.workspace_commands import go_to_cause, show_documentation

DOCUMENT_EVENTS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.TEXT_DOCUMENT_DID_SAVE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)
"""The notifications after which the open texts may have changed."""


def create_server() -> DevlintServer:
    """Return a language server on which all request and notification handlers are registered."""
    server = DevlintServer()
    server.feature(types.INITIALIZE)(lsp_lifecycle.initialize)
    server.feature(types.INITIALIZED)(lsp_lifecycle.initialized)
    server.feature(types.SHUTDOWN)(lsp_lifecycle.shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(lsp_lifecycle.configuration_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(lsp_lifecycle.folders_changed)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(lsp_lifecycle.watched_files_changed)
    server.feature(types.TEXT_DOCUMENT_HOVER)(hover)
    server.feature(types.TEXT_DOCUMENT_INLAY_HINT)(inlay_hints)
    options = types.CodeActionOptions(ACTION_KINDS, resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(code_actions)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve_code_action)
    server.feature(types.TEXT_DOCUMENT_CODE_LENS)(code_lenses)
    server.command(SHOW_DOCUMENTATION)(show_documentation)
    server.command(GO_TO_CAUSE)(go_to_cause)
    for method in DOCUMENT_EVENTS:
        server.feature(method)(_document_changed)
    return server


def _document_changed(server: DevlintServer, params: Any) -> None:
    """Schedule an analysis when the client reports a changed text.

    pygls has already applied the change to its own workspace.
    """
    server.schedule_analysis()
