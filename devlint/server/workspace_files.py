"""Search for the files of the workspace on which to report findings although they are not open in the editor."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from devlint.config.settings import Settings
from devlint.linter.discovery import Discovery
from devlint.server.preferences import DiagnosticMode, WorkspaceSettings

LOGGER: Final = logging.getLogger("devlint")

SUFFIXES: Final = (".py", ".pyi")
"""The suffixes of files to report on. Clients cannot show findings in notebooks that are not open."""


def find_workspace_files(folders: Iterable[Path], settings: WorkspaceSettings) -> Mapping[Path, Settings]:
    """Return all files, with their settings, in those workspace folders in which the client wants all files checked."""
    return dict(found for folder in folders for found in _files_below(folder, settings))


def _files_below(folder: Path, settings: WorkspaceSettings) -> Iterator[tuple[Path, Settings]]:
    """Yield the files below a folder that `devlint check` would check, with their settings."""
    resolver, preferences = settings.resolver(folder), settings.preferences(folder)
    if resolver is None or preferences.diagnostic_mode is not DiagnosticMode.WORKSPACE:
        return
    for one in Discovery(resolver.settings_for, LOGGER.warning).find([folder]):
        path = one.path.resolve()
        # A nested workspace folder has preferences of its own.
        if path.suffix in SUFFIXES and settings.preferences(path) is preferences:
            yield path, one.settings
