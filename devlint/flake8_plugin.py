"""The flake8 plugin of devlint: one analysis of all files, whose findings flake8 requests file by file."""

from __future__ import annotations

import ast
import atexit
import json
import multiprocessing
import os
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
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
from devlint.linter.discovery import Discovery
from devlint.linter.rule_loader import all_rule_metadata
from devlint.syntax.source_reading import encode_source
from devlint.version import __version__

Line = tuple[int, int, str]
"""The row, 0-based column and text of a finding, as flake8 expects them."""

_FINDINGS_VARIABLE = "_DEVLINT_FLAKE8_FINDINGS"
"""The environment variable with the path of the findings, for worker processes that do not share memory."""


class Checker:
    """The checker that flake8 instantiates for each file."""

    name = "devlint"
    version = __version__
    _project: ClassVar[_Project]

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Register the options of the plugin, which flake8 also reads from its own configuration."""
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
        """Store the options; before flake8 starts worker processes, also analyse all files for them."""
        try:
            cls._project = _Project(options)
            if multiprocessing.parent_process() is not None:
                cls._project.take_over()
            elif options.jobs.is_auto or options.jobs.n_jobs > 1:
                cls._project.hand_over()
        except ConfigError as problem:
            raise ExecutionError(f"devlint: {problem}") from None

    def run(self) -> Iterator[tuple[int, int, str, type[Checker]]]:
        """Yield the findings in the file."""
        for row, column, text in self._project.findings(self._filename, self._lines):
            yield row, column, text, type(self)


class _Project:
    """All files that flake8 will check, with the findings in each of them."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._resolver = _resolver(options)
        self._findings_by_file: dict[str, list[Line]] | None = None

    def findings(self, filename: str, lines: Sequence[str]) -> list[Line]:
        """Return the findings in a file; a file outside the project is analysed alone, from its lines."""
        if self._findings_by_file is None:
            self._findings_by_file = self._analyse_all()
        key = os.path.abspath(filename)
        if key not in self._findings_by_file:
            text = encode_source("".join(lines))
            self._findings_by_file[key] = [
                _flake8_line(each)
                for each in check_files(list(self._discovery().find_text(filename)), text).diagnostics
            ]
        return self._findings_by_file[key]

    def hand_over(self) -> None:
        """Analyse all files, and store the findings where worker processes can read them."""
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
        """Read the findings that the parent process has stored, if it has stored any."""
        if place := os.environ.get(_FINDINGS_VARIABLE):
            found = json.loads(Path(place).read_text(encoding="utf-8"))
            self._findings_by_file = {
                name: [(row, column, text) for row, column, text in lines] for name, lines in found.items()
            }

    def _analyse_all(self) -> dict[str, list[Line]]:
        """Analyse all files and return the findings by absolute path."""
        files = list(self._discovery().find(self._paths()))
        lines: defaultdict[str, list[Line]] = defaultdict(list)
        for diagnostic in check_files(files).diagnostics:
            lines[diagnostic.region.filename].append(_flake8_line(diagnostic))
        return {str(file.path): lines[file.name] for file in files}

    def _paths(self) -> list[Path]:
        """Return the files that flake8 will check, without those that do not exist, which flake8 reports itself."""
        options = self._options
        names = expand_paths(
            paths=options.filenames,
            stdin_display_name=options.stdin_display_name,
            filename_patterns=options.filename,
            exclude=(*options.exclude, *options.extend_exclude),
        )
        return [path for path in map(Path, names) if path.is_file()]

    def _discovery(self) -> Discovery:
        """Return a file discovery that stops flake8 at the first problem."""
        return Discovery(self._resolver.settings_for, _stop_flake8)


def _resolver(options: Namespace) -> Resolver:
    """Return the resolver of devlint's settings, in which the rules that flake8's options name are selected.

    Options name a rule by its code or family.
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


def _stop_flake8(problem: str) -> None:
    """Stop flake8 with the message of a problem. Raises ExecutionError."""
    raise ExecutionError(f"devlint: {problem}")


def _flake8_line(diagnostic: Diagnostic) -> Line:
    """Return a diagnostic in the form that flake8 expects."""
    start = diagnostic.region.start
    return start.row, start.column - 1, f"{diagnostic.code} {diagnostic.message} ({diagnostic.name})"
