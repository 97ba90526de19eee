"""LSP handlers for the start and end of a session, for changed settings, and for changed files on the disk."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from devlint.config.config_files import FILENAMES
from devlint.server.documents import path_of_uri
from devlint.server.language_server import DevlintServer
from devlint.server.preferences import SECTION, Preferences
from devlint.server.pull_diagnostics import pull_document, pull_workspace

WATCHED_PATTERNS: Final = ("**/*.py", "**/*.ipynb", *(f"**/{name}" for name in FILENAMES))
"""Glob patterns of the files on the disk that findings depend on, for the client to watch."""


def initialize(server: DevlintServer, params: types.InitializeParams) -> None:
    """Handle the LSP request `initialize`, the first of a session.

    Use the settings in the client's initialization options. If the client can pull diagnostics, enable the server's
    handlers for pull requests.
    """
    server.use_buffer_workspace()
    if server.client_features.pulls_diagnostics:
        server.feature(
            types.TEXT_DOCUMENT_DIAGNOSTIC,
            types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="devlint"),
        )(pull_document)
        server.feature(types.WORKSPACE_DIAGNOSTIC)(pull_workspace)
    options = Preferences.read(params.initialization_options)
    server.set_preferences(options, {})


async def initialized(server: DevlintServer, params: types.InitializedParams) -> None:
    """Handle the LSP notification `initialized`, with which the client ends the start of a session.

    Show the progress of the first analysis, ask the client to report changed files and settings, and request the
    client's settings.
    """
    await server.startup_progress.begin()
    await _register(server)
    await _ask_for_settings(server)


async def configuration_changed(server: DevlintServer, params: types.DidChangeConfigurationParams) -> None:
    """Handle changed client settings: request the settings from the client, or use those in the notification.

    The notification's settings are used if the client does not support requests for settings.
    """
    if not await _ask_for_settings(server) and params.settings is not None:
        server.set_preferences(Preferences.read(params.settings), {})


async def folders_changed(server: DevlintServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Handle a folder that was added to or removed from the workspace.

    Request the settings of all folders again, or read the configuration again if the client sends no settings on
    request.
    """
    if not await _ask_for_settings(server):
        server.reload_configuration()


def watched_files_changed(server: DevlintServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Handle the client's report of changed files on the disk: read the configuration again, or only analyse again.

    A created or deleted file changes how imports are resolved, so that the whole configuration is read again. The same
    holds for a changed configuration file.
    """
    changed = [one for one in params.changes if one.type is not types.FileChangeType.Changed]
    if changed or any(path_of_uri(one.uri).name in FILENAMES for one in params.changes):
        server.reload_configuration()
    else:
        server.schedule_analysis()


def shutdown(server: DevlintServer, params: None) -> None:
    """Handle the LSP request `shutdown`: cancel the running analysis and start no further analyses."""
    server.scheduler.close()


async def _register(server: DevlintServer) -> None:
    """Ask the client to notify the server of changed files and settings, if the client supports such requests."""
    workspace = server.client_capabilities.workspace
    files = workspace.did_change_watched_files if workspace else None
    settings = workspace.did_change_configuration if workspace else None
    wanted: list[types.Registration] = []
    if files and files.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED_PATTERNS]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if settings and settings.dynamic_registration:
        section = types.DidChangeConfigurationRegistrationOptions(SECTION)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        with suppress(JsonRpcException):
            # A client that announces registration and then refuses is served without it.
            await server.client_register_capability_async(types.RegistrationParams(wanted))


async def _ask_for_settings(server: DevlintServer) -> bool:
    """Request from the client the settings of each workspace folder, and use them.

    Return False, without a request, if the client does not support such requests.
    """
    workspace = server.client_capabilities.workspace
    if not workspace or not workspace.configuration:
        return False
    folders = server.folders
    items = [
        types.ConfigurationItem(section=SECTION),
        *(types.ConfigurationItem(uri, SECTION) for uri in folders.values()),
    ]
    given = await server.workspace_configuration_async(types.ConfigurationParams(items))
    default, *rest = [Preferences.read(one) for one in given]
    server.set_preferences(default, dict(zip(folders, rest, strict=False)))
    return True
