"""The flake8 plugin of devlint.

It analyses all files at once, and gives flake8 the findings of each file on request.
"""

from __future__ import annotations

import ast
import atexit
import json
import multiprocessing
import os
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from flake8.discover_files import expand_paths
from flake8.exceptions import ExecutionError
from flake8.options.manager import OptionManager

from devlint.config.config_error import ConfigError
from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.config.rule_selection import selector_matches
from devlint.diagnostic import Confidence, Diagnostic
from devlint.linter.check import check_files
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.rule_listing import all_rule_metadata
from devlint.output.finding_text import headline
from devlint.syntax.source_reading import encode_source
from devlint.triage.baseline import BaselineError, without_known
from devlint.version import __version__

Line = tuple[int, int, str]
"""The row, 0-based column and text of a finding, as flake8 expects them."""

_FINDINGS_VARIABLE = "_DEVLINT_FLAKE8_FINDINGS"
"""The environment variable with the path of the findings, for worker processes that do not share memory."""


class Checker:
    """The class that flake8 instantiates for each file in order to get devlint's findings in that file."""

    name = "devlint"
    version = __version__
    _project: ClassVar[_Project]

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Register devlint's options with flake8, which reads them from its command line and configuration files."""
        manager.add_option(
            "--devlint-min-confidence",
            choices=[confidence.value for confidence in Confidence],
            parse_from_config=True,
            help="Leave out findings with a lower confidence (default: likely).",
        )
        manager.add_option(
            "--devlint-config",
            metavar="FILE",
            parse_from_config=True,
            normalize_paths=True,
            help="Use this devlint configuration file instead of the one nearest to each file.",
        )

    @classmethod
    def parse_options(cls, manager: OptionManager, options: Namespace, arguments: Sequence[str]) -> None:
        """Keep the options that flake8 has parsed.

        If flake8 will start worker processes, also analyse all files for them. In a worker process, read the findings
        that the parent process has stored. Invalid devlint options stop flake8.
        """
        try:
            cls._project = _Project(options)
            if multiprocessing.parent_process() is not None:
                cls._project.take_over()
            elif options.jobs.is_auto or options.jobs.n_jobs > 1:
                cls._project.hand_over()
        except ConfigError as problem:
            raise ExecutionError(f"devlint: {problem}") from None

    def run(self) -> Iterator[tuple[int, int, str, type[Checker]]]:
        """Yield devlint's findings in the file of this checker, in the form that flake8 requires."""
        for row, column, text in self._project.findings(self._filename, self._lines):
            yield row, column, text, type(self)


class _Project:
    """The set of all files that one run of flake8 checks, with devlint's findings in each of the files."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._resolver = _resolver(options)
        self._findings_by_file: dict[str, list[Line]] | None = None

    def findings(self, filename: str, lines: Sequence[str]) -> list[Line]:
        """Return devlint's findings in one file.

        A file that is not among the files of the flake8 run is analysed alone, and `lines` are its content.
        """
        if self._findings_by_file is None:
            self._findings_by_file = self._analyse_all()
        key = os.path.abspath(filename)
        if key not in self._findings_by_file:
            text = encode_source("".join(lines))
            self._findings_by_file[key] = _new_lines(list(self._discovery().find_text(filename)), text).get(key, [])
        return self._findings_by_file[key]

    def hand_over(self) -> None:
        """In flake8's parent process: analyse all files, and store the findings where worker processes can read them.

        With fewer than two files nothing is done, because flake8 then starts no worker processes.
        """
        if len(self._paths()) < 2:
            return
        self._findings_by_file = self._analyse_all()
        if multiprocessing.get_start_method() == "fork":
            return
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json", delete=False) as stream:
            json.dump(self._findings_by_file, stream)
        os.environ[_FINDINGS_VARIABLE] = stream.name
        atexit.register(Path(stream.name).unlink, missing_ok=True)

    def take_over(self) -> None:
        """In a worker process of flake8: read the findings that `hand_over` has stored, if it has stored any."""
        if place := os.environ.get(_FINDINGS_VARIABLE):
            found = json.loads(Path(place).read_text(encoding="utf-8"))
            self._findings_by_file = {
                name: [(row, column, text) for row, column, text in lines] for name, lines in found.items()
            }

    def _analyse_all(self) -> dict[str, list[Line]]:
        """Analyse all files that flake8 will check, and return the findings of each file by its absolute path."""
        return _new_lines(list(self._discovery().find(self._paths())), None)

    def _paths(self) -> list[Path]:
        """Return the paths of the existing files that flake8 will check.

        Flake8 itself reports the files that do not exist.
        """
        options = self._options
        names = expand_paths(
            paths=options.filenames,
            stdin_display_name=options.stdin_display_name,
            filename_patterns=options.filename,
            exclude=(*options.exclude, *options.extend_exclude),
        )
        return [path for path in map(Path, names) if path.is_file()]

    def _discovery(self) -> Discovery:
        """Return a search for files that stops flake8 as soon as a path or a configuration cannot be read."""
        return Discovery(self._resolver.settings_for, _stop_flake8)


def _resolver(options: Namespace) -> Resolver:
    """Return the object that computes devlint's settings for each directory, with flake8's `select` options applied.

    The rules that flake8's `--select` and `--extend-select` name by code or code prefix are selected in addition to
    those of devlint's own configuration.
    """
    metadata = all_rule_metadata()
    named = [name for name in (*(options.select or ()), *(options.extend_select or ())) if name[-1].isdigit()]
    confidence = options.devlint_min_confidence
    return Resolver(
        metadata,
        Options(
            extend_select=tuple(name for name in named if any(selector_matches(name, card) for card in metadata)),
            min_confidence=Confidence(confidence) if confidence else None,
        ),
        cwd=Path.cwd(),
        config=Path(options.devlint_config) if options.devlint_config else None,
    )


def _new_lines(files: Sequence[DiscoveredFile], text: bytes | None) -> dict[str, list[Line]]:
    """Analyse files, and return the findings of each by its absolute path, without those in its baseline file.

    `text` is the content of the only file where that content is not on the disk.
    """
    found: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for diagnostic in check_files(files, text).diagnostics:
        found[diagnostic.region.filename].append(diagnostic)
    paths = {file.name: file.path for file in files}
    return {
        str(file.path): [_flake8_line(each) for each in _without_known(found[file.name], file, paths)] for file in files
    }


def _without_known(found: list[Diagnostic], file: DiscoveredFile, paths: Mapping[str, Path]) -> list[Diagnostic]:
    """Return the findings in one file that the baseline file of its settings, if there is one, does not record.

    `paths` are those of the checked files by their names.
    """
    if file.settings.baseline is None:
        return found
    try:
        return without_known(found, file.settings.baseline, paths.__getitem__)
    except BaselineError as problem:
        raise ExecutionError(f"devlint: {problem.advice(of_settings=True)}") from None


def _stop_flake8(problem: str) -> None:
    """Stop flake8 with the given error message, by raising flake8's ExecutionError."""
    raise ExecutionError(f"devlint: {problem}")


def _flake8_line(diagnostic: Diagnostic) -> Line:
    """Return a diagnostic as the tuple that flake8 expects: row, column and text.

    The column is 0-based; the text has the code of the rule, the message and the name of the rule.
    """
    start = diagnostic.region.start
    return start.row, start.column - 1, headline(diagnostic)
