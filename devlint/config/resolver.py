"""The settings of any path: its configuration file and the command line, each file read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from devlint.config.files import nearest
from devlint.config.options import Options, parse_options
from devlint.config.settings import Settings, Source, settle
from devlint.rulecard import RuleCard


class Resolver:
    """Answers what settings hold in a directory.

    `given` is what the command line says, and a `ConfigError` is raised at once where that makes no sense;
    `isolated` leaves configuration files aside.
    """

    def __init__(self, rules: Sequence[RuleCard], given: Options, *, cwd: Path, isolated: bool = False) -> None:
        self._rules = rules
        self._given = Source(given, cwd)
        self._isolated = isolated
        self._by_directory: dict[Path, Settings] = {}
        self._by_file: dict[Path | None, Settings] = {None: settle([self._given], rules, cwd)}

    def settings_for(self, directory: Path) -> Settings:
        """The settings of what lies in this (absolute) directory; `ConfigError` where they cannot be used."""
        settings = self._by_directory.get(directory)
        if settings is None:
            found = None if self._isolated else nearest(directory)
            path = found[0] if found else None
            settings = self._by_file.get(path)
            if settings is None:
                files = [Source(parse_options(found[1], found[0]), found[0].parent, found[0])] if found else []
                settings = settle([*files, self._given], self._rules, self._given.root)
                self._by_file[path] = settings
            self._by_directory[directory] = settings
        return settings
