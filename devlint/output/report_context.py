"""The interface of output formats, and what they are given besides the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from devlint.diagnostic import Diagnostic
from devlint.rule_metadata import RuleMetadata

LineReader = Callable[[str, "int | None"], Sequence[str]]
"""A function that returns the lines of a file or of a notebook's cell, without their ends; none if it is unreadable."""


def no_source_lines(filename: str, cell: int | None) -> Sequence[str]:
    """Return no lines; the default line reader, for reports without source."""
    return ()


@dataclass(frozen=True, slots=True)
class ReportContext:
    """The circumstances of a report: source lines, colours, width, number of checked files, rules.

    `base` is the directory to which the service that reads the report resolves paths.
    """

    lines: LineReader = no_source_lines
    color: bool = False
    width: int = 120
    checked: int = 0
    rules: Mapping[str, RuleMetadata] = field(default_factory=dict)
    base: Path = field(default_factory=Path.cwd)

    def relative(self, filename: str) -> str:
        """Return a file's path relative to `base`; the path as it is if the file is not below `base`."""
        path, base = Path(filename).resolve(), self.base.resolve()
        return path.relative_to(base).as_posix() if path.is_relative_to(base) else filename


class OutputFormat(Protocol):
    """An output format: a function that yields the text of a report piece by piece."""

    def __call__(self, diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
        """Yield the report on these findings, which are sorted."""
