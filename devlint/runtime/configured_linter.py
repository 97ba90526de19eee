"""Static analysis of the files of a program that `devlint run` has run, under the configuration of their project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.config.settings import Settings
from devlint.diagnostic import Diagnostic
from devlint.linter.discovery import is_excluded
from devlint.linter.program_analysis import analyse_files, imported_files
from devlint.linter.rule_listing import all_rule_metadata
from devlint.syntax.index import index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source
from devlint.syntax.suppressions import Suppressions, find_suppressions

_NOT_OF_PROGRAMS = "DEV9"
"""The prefix of rules about files and comments, which no run can confirm."""


class ConfiguredLinter:
    """Linter for the files of a program that ran: applies devlint's rules under the project's configuration.

    `given` are options that the command line gives besides. Raises `ConfigError` if the configuration or these cannot
    be used. Problems that were observed while the program ran are reported even if their rule is off by default, unless
    the project or the command line turns the rule off.
    """

    def __init__(self, config: Path | None = None, *, isolated: bool = False, given: Options | None = None) -> None:
        rule_metadata = all_rule_metadata()
        reported = [replace(metadata, default=True) for metadata in rule_metadata]
        given, here = given or Options(), Path.cwd()
        self._static_settings = Resolver(rule_metadata, given, cwd=here, config=config, isolated=isolated)
        self._observed_settings = Resolver(reported, given, cwd=here, config=config, isolated=isolated)

    def validate_settings(self, directory: Path) -> None:
        """Raise `ConfigError` if the devlint configuration that applies to a directory cannot be used."""
        self._static_settings.settings_for(directory)

    def configuration(self, directory: Path) -> str:
        """Return the name of the configuration file that applies to a directory, or what applies without one."""
        path = self._static_settings.settings_for(directory).path
        return str(path) if path is not None else "the defaults"

    def findings(self, files: Iterable[str], *, with_imports: bool = False) -> list[Diagnostic]:
        """Return what the static analysis reports for some source files, analysed together as one program.

        `with_imports` adds the files that they import: a program that ended early has not come to all of them.
        """
        settings = dict(self._wanted_files(files))
        if not settings:
            return []
        codes = frozenset[str]().union(*(each.codes for each in settings.values()))
        src = list(dict.fromkeys(folder for each in settings.values() for folder in each.src if folder.is_dir()))
        if with_imports:
            settings |= self._wanted_files(map(str, imported_files(list(settings), src)))
            codes = codes.union(*(each.codes for each in settings.values()))
        found = analyse_files(list(settings), codes=codes, src=src).diagnostics
        judged = (settings[path].judge(one, path) for one in found if (path := Path(one.region.filename)) in settings)
        return [one for one in judged if one is not None and not one.code.startswith(_NOT_OF_PROGRAMS)]

    def apply_settings(self, seen: Diagnostic) -> Diagnostic | None:
        """Return a problem observed in a run with the severity that the project sets for its rule.

        Returns None if a suppression comment or the project's configuration silences the problem.
        """
        path = Path(seen.region.filename)
        if _suppressions(path).covers(seen.code, seen.name, seen.region.start.row, seen.region.end.row):
            return None
        try:
            return self._observed_settings.settings_for(path.parent).judge(seen, path)
        except ConfigError:
            return seen

    def _wanted_files(self, files: Iterable[str]) -> Iterator[tuple[Path, Settings]]:
        """Yield those of the given files that exist and that the project does not exclude, each with its settings."""
        for path in map(Path, files):
            if path.is_file():
                settings = self._static_settings.settings_for(path.parent)
                if not is_excluded(settings, path):
                    yield path, settings


@lru_cache(None)
def _suppressions(path: Path) -> Suppressions:
    """Return the suppression comments of a source file, or an empty collection if the file cannot be read."""
    try:
        source = decode_source(path.read_bytes(), path.name)
        return find_suppressions(source, index_source(source))
    except (OSError, SourceError):
        return Suppressions()
