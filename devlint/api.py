"""The Python interface of devlint: functions that check files, or a text, and return the findings as typed objects."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.config.config_options import Options
from devlint.config.resolver import Resolver
from devlint.diagnostic import Confidence, Diagnostic
from devlint.linter.check import check_files
from devlint.linter.discovery import DiscoveredFile, Discovery
from devlint.linter.rule_listing import all_rule_metadata
from devlint.syntax.source_reading import encode_source

if TYPE_CHECKING:
    from devlint.interpreter.state.failures import InternalError


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check of files or of a text by `check_paths` or `check_source`.

    `diagnostics` are the findings, sorted by file, notebook cell, position and rule code. `problems` are the reasons
    why something could not be checked: a path that does not exist, an invalid configuration. `errors` are failures of
    devlint itself: the function that each of them names was not completely analysed. `checked` is the number of checked
    files.
    """

    diagnostics: tuple[Diagnostic, ...]
    problems: tuple[str, ...]
    errors: tuple[InternalError, ...]
    checked: int


def check_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] | None = None,
    extend_select: Iterable[str] | None = None,
    min_confidence: Confidence | None = None,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
) -> Result:
    """Check files and directories as the command `devlint PATH...` does, relative to the current directory.

    The arguments override configuration files. `config` is a configuration file to use instead of the nearest one; with
    `isolated`, no configuration file is read. Raises `ConfigError` for invalid arguments.
    """
    options = _options(select, ignore, extend_select, min_confidence)
    problems: list[str] = []
    discovery = Discovery(_resolver(options, config, isolated=isolated).settings_for, problems.append)
    return _result(list(discovery.find([Path(path) for path in paths])), None, problems)


def check_source(
    source: str | bytes,
    filename: str = "<string>",
    *,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] | None = None,
    extend_select: Iterable[str] | None = None,
    min_confidence: Confidence | None = None,
    config: str | os.PathLike[str] | None = None,
    isolated: bool = False,
) -> Result:
    """Check a source text as if it were the content of the file `filename`, which need not exist.

    The file name decides which configuration applies and where imports are searched; the name of a notebook ends in
    `.ipynb`. The other arguments are those of `check_paths`.
    """
    options = _options(select, ignore, extend_select, min_confidence)
    problems: list[str] = []
    discovery = Discovery(_resolver(options, config, isolated=isolated).settings_for, problems.append)
    text = source if isinstance(source, bytes) else encode_source(source)
    return _result(list(discovery.find_text(filename)), text, problems)


def _options(
    select: Iterable[str] | None,
    ignore: Iterable[str] | None,
    extend_select: Iterable[str] | None,
    min_confidence: Confidence | None,
) -> Options:
    """Return the configuration options that correspond to the arguments of `check_paths` and `check_source`."""
    return Options(
        select=None if select is None else tuple(select),
        ignore=None if ignore is None else tuple(ignore),
        extend_select=None if extend_select is None else tuple(extend_select),
        min_confidence=min_confidence,
    )


def _resolver(options: Options, config: str | os.PathLike[str] | None, *, isolated: bool) -> Resolver:
    """Return the object that computes the settings of each directory, for a check started in the current directory."""
    metadata = all_rule_metadata()
    file = None if config is None else Path(os.path.abspath(config))
    return Resolver(metadata, options, cwd=Path.cwd(), config=file, isolated=isolated)


def _result(files: list[DiscoveredFile], text: bytes | None, problems: list[str]) -> Result:
    """Check the discovered files and return the `Result`, which also lists the problems met while searching for files.

    `text` is the content of the only file where that content is not on the disk.
    """
    outcome = check_files(files, text)
    return Result(outcome.diagnostics, tuple(problems), outcome.errors, outcome.checked)
