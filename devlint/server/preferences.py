"""The settings that an LSP client sends, and the settings that follow from them for each file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

from devlint.config.config_error import ConfigError
from devlint.config.config_files import FILENAMES
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.config.settings import Settings
from devlint.diagnostic import Confidence
from devlint.linter.discovery import is_excluded
from devlint.linter.rule_listing import all_rule_metadata

SECTION = "devlint"
"""The name under which clients keep the settings."""

EnumT = TypeVar("EnumT", bound=Enum)


class InlayHintMode(Enum):
    """The client's choice of inlay hints to show: none, only where a tensor is created or moved, or all."""

    OFF = "off"
    CHANGES = "changes"
    ALL = "all"


class DiagnosticMode(Enum):
    """The client's choice of the files to report findings on: the open files, or all files of the workspace."""

    OPEN_FILES = "openFilesOnly"
    WORKSPACE = "workspace"


NO_OPTIONS: Final = Options()
"""Options that change nothing."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The settings that an LSP client has sent for one folder.

    `problems` describes invalid settings, which are ignored.
    """

    enable: bool = True
    options: Options = NO_OPTIONS
    configuration: str | None = None
    inlay_hints: InlayHintMode = InlayHintMode.CHANGES
    code_lens: bool = False
    diagnostic_mode: DiagnosticMode = DiagnosticMode.OPEN_FILES
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: object) -> Preferences:
        """Return the settings in an object that a client has sent; the object may have any type."""
        table = given if isinstance(given, Mapping) else {}
        table = table.get(SECTION, table) if isinstance(table.get(SECTION), Mapping) else table
        reader = _SettingsReader(table)
        options = Options(
            select=reader.strings("select"),
            ignore=reader.strings("ignore"),
            extend_select=reader.strings("extendSelect"),
            min_confidence=reader.choice("minConfidence", Confidence, None),
        )
        return cls(
            reader.flag("enable", True),
            options,
            reader.text("configuration"),
            reader.choice("inlayHints", InlayHintMode, InlayHintMode.CHANGES) or InlayHintMode.CHANGES,
            reader.flag("codeLens", False),
            reader.choice("diagnosticMode", DiagnosticMode, DiagnosticMode.OPEN_FILES) or DiagnosticMode.OPEN_FILES,
            tuple(reader.problems),
        )


class _SettingsReader:
    """A reader of the values in a client's settings that collects a problem for each value of the wrong type."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.problems: list[str] = []

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean setting, or the default if the setting is missing or invalid."""
        value = self._table.get(key)
        return default if value is None or not self._fits(key, isinstance(value, bool), "true or false") else value

    def text(self, key: str) -> str | None:
        """Return a setting that is a string, or None if the setting is missing, invalid or empty."""
        value = self._table.get(key)
        return None if not value or not self._fits(key, isinstance(value, str), "a string") else value

    def strings(self, key: str) -> tuple[str, ...] | None:
        """Return a setting that is a list of strings, or None if the setting is missing or invalid."""
        value = self._table.get(key)
        if value is None:
            return None
        fits = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value)
        return tuple(value) if self._fits(key, fits, "a list of strings") else None

    def choice(self, key: str, kind: type[EnumT], default: EnumT | None) -> EnumT | None:
        """Return a setting as a member of an enumeration, or the default if the setting is missing or invalid."""
        value = self._table.get(key)
        if not value:
            return default
        names = [one.value for one in kind]
        return kind(value) if self._fits(key, value in names, " or ".join(f'"{name}"' for name in names)) else default

    def _fits(self, key: str, fits: bool, wanted: str) -> bool:
        """Return `fits`, which tells whether the value of a setting has the right type.

        If `fits` is False, record the problem that the setting is not what `wanted` says.
        """
        if not fits:
            self.problems.append(f"{SECTION}.{key}: expected {wanted}")
        return fits


class WorkspaceSettings:
    """The settings that hold for each file of the workspace.

    The settings come from configuration files, overridden by what the client has set for the workspace folder.
    """

    def __init__(self, folders: Mapping[Path, Preferences], default: Preferences, warn: Callable[[str], None]):
        # Nested folders come first. None stands for files outside of all folders.
        ordered = sorted(folders.items(), key=lambda one: len(one[0].parts), reverse=True)
        self._folders: Mapping[Path | None, Preferences] = {**dict(ordered), None: default}
        self._warn = warn
        self._cards = all_rule_metadata()
        self._resolvers = {folder: self._resolver(folder, one) for folder, one in self._folders.items()}

    def preferences(self, path: Path) -> Preferences:
        """Return the settings that the client has sent for the workspace folder of a file or directory."""
        return self._folders[self._folder_of(path)]

    def resolver(self, path: Path) -> Resolver | None:
        """Return the resolver that finds the settings of the files in a directory, or of one file.

        Return None if devlint is disabled there or the configuration is invalid.
        """
        return self._resolvers[self._folder_of(path)]

    def settings(self, path: Path) -> Settings | None:
        """Return the settings that hold for a file, or None if the file is not to be analysed."""
        resolver = self.resolver(path)
        if resolver is None:
            return None
        try:
            settings = resolver.settings_for(path.parent)
        except ConfigError as problem:
            self._warn(str(problem))
            return None
        for warning in settings.warnings:
            self._warn(warning)
        return None if settings.force_exclude and is_excluded(settings, path) else settings

    def configuration_files(self, path: Path) -> Iterator[Path]:
        """Yield the paths at which a file's configuration may lie, whether or not there is a file."""
        given = self.preferences(path).configuration
        if given:
            yield self._configuration_path(self._folder_of(path), given)
        else:
            yield from (folder / name for folder in path.parents for name in FILENAMES)

    def _folder_of(self, path: Path) -> Path | None:
        """Return the innermost workspace folder that contains a path, or None if no folder contains it."""
        return next((one for one in self._folders if one is not None and path.is_relative_to(one)), None)

    def _resolver(self, folder: Path | None, preferences: Preferences) -> Resolver | None:
        """Return a new resolver, which finds the settings of files, for a workspace folder.

        Return None if devlint is disabled in the folder or its configuration is invalid.
        """
        if not preferences.enable:
            return None
        given = preferences.configuration
        file = self._configuration_path(folder, given) if given else None
        try:
            return Resolver(self._cards, preferences.options, cwd=folder or Path.cwd(), config=file)
        except ConfigError as problem:
            self._warn(str(problem))
            return None

    def _configuration_path(self, folder: Path | None, given: str) -> Path:
        """Return the path of the configuration file that the client's settings name, taken relative to a folder."""
        return (folder or Path.cwd()) / Path(given).expanduser()
