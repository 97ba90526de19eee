"""Settings of any directory, merged from the nearest configuration file and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from devlint.config.config_files import find_config_file, read_config_chain
from devlint.config.config_options import Options
from devlint.config.settings import OptionSource, Settings, merge_sources
from devlint.rule_metadata import RuleMetadata


class Resolver:
    """A finder of the settings that hold for a directory, with a cache.

    `given` are the options of the command line; ConfigError is raised at once if they are invalid. `config` is a
    configuration file to use in place of the nearest one. `isolated` ignores all configuration files.
    """

    def __init__(
        self,
        rules: Sequence[RuleMetadata],
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
        """Return the settings for the files in a directory, given as an absolute path.

        Raises ConfigError if they are invalid.
        """
        file = self._config or self._nearest(directory)
        if file is not None and file not in self._by_file:
            self._by_file[file] = self._merge(file)
        return self._by_file[file]

    def _nearest(self, directory: Path) -> Path | None:
        """Return the path of the configuration file in a directory or the nearest one above it, None if none exists."""
        if self._isolated:
            return None
        if directory not in self._nearest_to:
            above = directory.parent
            found = find_config_file(directory)
            self._nearest_to[directory] = found or (self._nearest(above) if above != directory else None)
        return self._nearest_to[directory]

    def _merge(self, file: Path) -> Settings:
        """Return the settings merged from a configuration file, the files it extends, and the command line."""
        sources = [OptionSource(options, path.parent, path) for path, options in read_config_chain(file)]
        return merge_sources([*sources, self._given], self._rules, self._given.root)
