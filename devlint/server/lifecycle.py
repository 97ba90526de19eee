"""The beginning and the end: what the client can do, its settings, and the files that it watches for us."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from devlint.config.config_files import FILENAMES
from devlint.server.diagnosing import pull, pull_workspace
from devlint.server.documents import path_of
from devlint.server.preferences import SECTION, Preferences
from devlint.server.server import DevlintServer

WATCHED: Final = ("**/*.py", "**/*.ipynb", *(f"**/{name}" for name in FILENAMES))
"""The files outside of the editor on which findings depend."""


def initialize(server: DevlintServer, params: types.InitializeParams) -> None:
    """The client introduces itself."""
    server.adopt_workspace()
    if server.abilities.pulls:
        server.feature(
            types.TEXT_DOCUMENT_DIAGNOSTIC,
            types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier="devlint"),
        )(pull)
        server.feature(types.WORKSPACE_DIAGNOSTIC)(pull_workspace)
    options = Preferences.read(params.initialization_options)
    server.prefer(options, {})


async def initialized(server: DevlintServer, params: types.InitializedParams) -> None:
    """The client is ready to be asked."""
    await server.first_look.begin()
    await _register(server)
    await _ask_for_settings(server)


async def configured(server: DevlintServer, params: types.DidChangeConfigurationParams) -> None:
    """The client's settings have changed: those it sends, or those it can be asked for."""
    if not await _ask_for_settings(server) and params.settings is not None:
        server.prefer(Preferences.read(params.settings), {})


async def folders_changed(server: DevlintServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """A folder was added to the workspace or taken away."""
    if not await _ask_for_settings(server):
        server.reload()


def files_changed(server: DevlintServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Files have changed on the disk; which there are decides what imports mean."""
    changed = [one for one in params.changes if one.type is not types.FileChangeType.Changed]
    if changed or any(path_of(one.uri).name in FILENAMES for one in params.changes):
        server.reload()
    else:
        server.change()


def shutdown(server: DevlintServer, params: None) -> None:
    """No more looking."""
    server.analyst.close()


async def _register(server: DevlintServer) -> None:
    """Ask for what only some clients do: to watch files, and to tell when settings change."""
    workspace = server.client_capabilities.workspace
    files = workspace.did_change_watched_files if workspace else None
    settings = workspace.did_change_configuration if workspace else None
    wanted: list[types.Registration] = []
    if files and files.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if settings and settings.dynamic_registration:
        section = types.DidChangeConfigurationRegistrationOptions(SECTION)
        wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if wanted:
        with suppress(JsonRpcException):
            # Who announces it and then refuses is served without.
            await server.client_register_capability_async(types.RegistrationParams(wanted))


async def _ask_for_settings(server: DevlintServer) -> bool:
    """Ask the client for the settings of each folder; whether it can be asked."""
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
    server.prefer(default, dict(zip(folders, rest, strict=False)))
    return True
