"""What the client's settings say, and which settings then hold for a file."""

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
from devlint.linter.rule_loader import all_rules
from devlint.rule_metadata import RuleCard

SECTION = "devlint"
"""The name under which clients keep the settings."""

E = TypeVar("E", bound=Enum)


class Hints(Enum):
    """Which inlay hints are wanted."""

    OFF = "off"
    CHANGES = "changes"
    ALL = "all"


class Mode(Enum):
    """Of which files findings are told."""

    OPEN_FILES = "openFilesOnly"
    WORKSPACE = "workspace"


NOTHING: Final = Options()


@dataclass(frozen=True, slots=True)
class Preferences:
    """The client's settings for one folder; `problems` are those that make no sense, which are then left aside."""

    enable: bool = True
    options: Options = NOTHING
    configuration: str | None = None
    hints: Hints = Hints.CHANGES
    code_lens: bool = False
    mode: Mode = Mode.OPEN_FILES
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: object) -> Preferences:
        """The settings in what a client has sent."""
        table = given if isinstance(given, Mapping) else {}
        table = table.get(SECTION, table) if isinstance(table.get(SECTION), Mapping) else table
        reader = _Reader(table)
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
            reader.choice("inlayHints", Hints, Hints.CHANGES) or Hints.CHANGES,
            reader.flag("codeLens", False),
            reader.choice("diagnosticMode", Mode, Mode.OPEN_FILES) or Mode.OPEN_FILES,
            tuple(reader.problems),
        )


class _Reader:
    """Takes values out of a table, and complains of those of another kind."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.problems: list[str] = []

    def flag(self, key: str, default: bool) -> bool:
        value = self._table.get(key)
        return default if value is None or not self._fits(key, isinstance(value, bool), "true or false") else value

    def text(self, key: str) -> str | None:
        value = self._table.get(key)
        return None if not value or not self._fits(key, isinstance(value, str), "a string") else value

    def strings(self, key: str) -> tuple[str, ...] | None:
        value = self._table.get(key)
        if value is None:
            return None
        fits = isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value)
        return tuple(value) if self._fits(key, fits, "a list of strings") else None

    def choice(self, key: str, kind: type[E], default: E | None) -> E | None:
        value = self._table.get(key)
        if not value:
            return default
        names = [one.value for one in kind]
        return kind(value) if self._fits(key, value in names, " or ".join(f'"{name}"' for name in names)) else default

    def _fits(self, key: str, fits: bool, wanted: str) -> bool:
        if not fits:
            self.problems.append(f"{SECTION}.{key}: expected {wanted}")
        return fits


class Book:
    """The settings of every directory: each workspace folder's preferences over the configuration files in it."""

    def __init__(self, folders: Mapping[Path, Preferences], default: Preferences, complain: Callable[[str], None]):
        # The innermost first; what lies in no folder has the default.
        ordered = sorted(folders.items(), key=lambda one: len(one[0].parts), reverse=True)
        self._folders: Mapping[Path | None, Preferences] = {**dict(ordered), None: default}
        self._complain = complain
        self._cards = [RuleCard.of(rule) for rule in all_rules()]
        self._resolvers = {folder: self._resolver(folder, one) for folder, one in self._folders.items()}

    def preferences(self, path: Path) -> Preferences:
        """The preferences for a file or a folder."""
        return self._folders[self._folder(path)]

    def resolver(self, path: Path) -> Resolver | None:
        """Who knows the settings of a file, or of a folder; None where nothing is to be looked at."""
        return self._resolvers[self._folder(path)]

    def settings(self, path: Path) -> Settings | None:
        """The settings that hold for a file; None where it is not to be looked at."""
        resolver = self.resolver(path)
        if resolver is None:
            return None
        try:
            settings = resolver.settings_for(path.parent)
        except ConfigError as problem:
            self._complain(str(problem))
            return None
        return None if settings.force_exclude and is_excluded(settings, path) else settings

    def files(self, path: Path) -> Iterator[Path]:
        """The files that hold settings for a file, or would if there were any."""
        given = self.preferences(path).configuration
        if given:
            yield self._configured(self._folder(path), given)
        else:
            yield from (folder / name for folder in path.parents for name in FILENAMES)

    def _folder(self, path: Path) -> Path | None:
        """The innermost folder of the workspace around a path."""
        return next((one for one in self._folders if one is not None and path.is_relative_to(one)), None)

    def _resolver(self, folder: Path | None, preferences: Preferences) -> Resolver | None:
        if not preferences.enable:
            return None
        given = preferences.configuration
        file = self._configured(folder, given) if given else None
        try:
            return Resolver(self._cards, preferences.options, cwd=folder or Path.cwd(), config=file)
        except ConfigError as problem:
            self._complain(str(problem))
            return None

    def _configured(self, folder: Path | None, given: str) -> Path:
        return (folder or Path.cwd()) / Path(given).expanduser()
