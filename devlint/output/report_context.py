"""The interface of devlint's output formats, and the data besides the findings that every format receives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from devlint.diagnostic import Diagnostic
from devlint.rule_metadata import RuleMetadata

LineReader = Callable[[str, "int | None"], Sequence[str]]
"""A function that returns the lines of a file or of a notebook's cell, without their ends; none if it is unreadable."""


def no_source_lines(filename: str, cell: int | None) -> Sequence[str]:
    """Return no lines for any file: the reader of source lines for reports that show no source."""
    return ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a report says of the run that made it: when it began, the command line, and the configuration file.

    `configuration` is None where no file configures the run.
    """

    began: datetime
    command: str
    configuration: str | None


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What an output format knows besides the findings.

    `lines` reads source lines, `color` allows colours, `width` is the width of the output in columns, `checked` is the
    number of checked files, and `rules` are all rules by code. `base` is the directory to which the service that reads
    the report resolves paths. `unsafe_fixes` tells that the user asks for unsafe fixes too, and `on_terminal` that a
    terminal shows the report, which breaks lines anywhere that are longer than `width`. `run` is what is known of the
    run; None where nobody has to read of it.
    """

    lines: LineReader = no_source_lines
    color: bool = False
    width: int = 120
    checked: int = 0
    rules: Mapping[str, RuleMetadata] = field(default_factory=dict)
    base: Path = field(default_factory=Path.cwd)
    unsafe_fixes: bool = False
    on_terminal: bool = False
    run: RunFacts | None = None

    def relative(self, filename: str) -> str:
        """Return a file's path relative to the directory `base`, or the path unchanged if it is not below `base`."""
        path, base = Path(filename).resolve(), self.base.resolve()
        return path.relative_to(base).as_posix() if path.is_relative_to(base) else filename


class OutputFormat(Protocol):
    """An output format: a function that yields the text of a report on findings piece by piece."""

    def __call__(self, diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
        """Yield the text of the report on these findings, piece by piece. The findings are sorted already."""
