"""The settings of any directory: its configuration file and the command line, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from devlint.config.config_files import find_config_file, read_config_chain
from devlint.config.config_options import Options
from devlint.config.settings import OptionSource, Settings, merge_sources
from devlint.rule_metadata import RuleCard


class Resolver:
    """Answers what settings hold in a directory.

    `given` is what the command line says, and `ConfigError` is raised at once where that makes no sense. `config` is a
    configuration file to use instead of the nearest one; `isolated` leaves all of them aside.
    """

    def __init__(
        self,
        rules: Sequence[RuleCard],
        given: Options,
        *,
        cwd: Path,
        config: Path | None = None,
        isolated: bool = False,
    ) -> None:
        self._rules = rules
        self._given = OptionSource(given, cwd)
        self._config = config
        self._isolated = isolated
        self._nearest_to: dict[Path, Path | None] = {}
        self._by_file: dict[Path | None, Settings] = {None: merge_sources([self._given], rules, cwd)}

    def settings_for(self, directory: Path) -> Settings:
        """The settings of what lies in this (absolute) directory; `ConfigError` where they cannot be used."""
        file = self._config or self._nearest(directory)
        if file is not None and file not in self._by_file:
            self._by_file[file] = self._settle(file)
        return self._by_file[file]

    def _nearest(self, directory: Path) -> Path | None:
        """The configuration file at or above the directory."""
        if self._isolated:
            return None
        if directory not in self._nearest_to:
            above = directory.parent
            found = find_config_file(directory)
            self._nearest_to[directory] = found or (self._nearest(above) if above != directory else None)
        return self._nearest_to[directory]

    def _settle(self, file: Path) -> Settings:
        sources = [OptionSource(options, path.parent, path) for path, options in read_config_chain(file)]
        return merge_sources([*sources, self._given], self._rules, self._given.root)
