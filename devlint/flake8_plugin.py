"""devlint within flake8: one analysis of all files, whose findings flake8 asks for file by file."""

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
"""Row, column counted from 0, and text of a finding, as flake8 takes them."""

_HANDED_OVER = "_DEVLINT_FLAKE8_FINDINGS"
"""The environment variable that tells worker processes which do not share the memory of this one what it has found."""


class Checker:
    """What flake8 makes for each file."""

    name = "devlint"
    version = __version__
    _project: ClassVar[_Project]

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Name the options, which flake8 also reads from its own configuration."""
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
        """Take the options; where flake8 is about to start workers, analyse everything for them first."""
        try:
            cls._project = _Project(options)
            if multiprocessing.parent_process() is not None:
                cls._project.take_over()
            elif options.jobs.is_auto or options.jobs.n_jobs > 1:
                cls._project.hand_over()
        except ConfigError as problem:
            raise ExecutionError(f"devlint: {problem}") from None

    def run(self) -> Iterator[tuple[int, int, str, type[Checker]]]:
        """The findings in the file."""
        for row, column, text in self._project.findings(self._filename, self._lines):
            yield row, column, text, type(self)


class _Project:
    """All files that flake8 will check, and what was found in each of them."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._resolver = _resolver(options)
        self._found: dict[str, list[Line]] | None = None

    def findings(self, filename: str, lines: Sequence[str]) -> list[Line]:
        """The findings in a file; one that is not part of the project is analysed alone, from its lines."""
        if self._found is None:
            self._found = self._analysed()
        key = os.path.abspath(filename)
        if key not in self._found:
            text = encode_source("".join(lines))
            self._found[key] = [
                _line(each) for each in check_files(list(self._discovery().text(filename)), text).diagnostics
            ]
        return self._found[key]

    def hand_over(self) -> None:
        """Analyse, and leave the findings where worker processes get at them."""
        if len(self._paths()) < 2:
            return
        self._found = self._analysed()
        if multiprocessing.get_start_method() == "fork":
            return
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json", delete=False) as stream:
            json.dump(self._found, stream)
        os.environ[_HANDED_OVER] = stream.name
        atexit.register(Path(stream.name).unlink, missing_ok=True)

    def take_over(self) -> None:
        """Take the findings that the parent process has left, if it has."""
        if place := os.environ.get(_HANDED_OVER):
            found = json.loads(Path(place).read_text(encoding="utf-8"))
            self._found = {name: [(row, column, text) for row, column, text in lines] for name, lines in found.items()}

    def _analysed(self) -> dict[str, list[Line]]:
        files = list(self._discovery().find(self._paths()))
        lines: defaultdict[str, list[Line]] = defaultdict(list)
        for diagnostic in check_files(files).diagnostics:
            lines[diagnostic.region.filename].append(_line(diagnostic))
        return {str(file.path): lines[file.name] for file in files}

    def _paths(self) -> list[Path]:
        """The files, as flake8 finds them; it complains itself of those that are not there."""
        options = self._options
        names = expand_paths(
            paths=options.filenames,
            stdin_display_name=options.stdin_display_name,
            filename_patterns=options.filename,
            exclude=(*options.exclude, *options.extend_exclude),
        )
        return [path for path in map(Path, names) if path.is_file()]

    def _discovery(self) -> Discovery:
        return Discovery(self._resolver.settings_for, _refuse)


def _resolver(options: Namespace) -> Resolver:
    """Settings as devlint's own configuration has them, and on besides what flake8's names by family or code."""
    cards = all_rule_metadata()
    named = [name for name in (*(options.select or ()), *(options.extend_select or ())) if name[-1].isdigit()]
    confidence = options.devlint_min_confidence
    return Resolver(
        cards,
        Options(
            extend_select=tuple(name for name in named if any(selector_matches(name, card) for card in cards)),
            min_confidence=Confidence(confidence) if confidence else None,
        ),
        cwd=Path.cwd(),
        config=Path(options.devlint_config) if options.devlint_config else None,
    )


def _refuse(problem: str) -> None:
    raise ExecutionError(f"devlint: {problem}")


def _line(diagnostic: Diagnostic) -> Line:
    start = diagnostic.region.start
    return start.row, start.column - 1, f"{diagnostic.code} {diagnostic.message} ({diagnostic.name})"
