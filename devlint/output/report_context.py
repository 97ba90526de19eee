"""What an output format is given besides the findings, and what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from devlint.diagnostic import Diagnostic
from devlint.rule_metadata import RuleCard

LineReader = Callable[[str, "int | None"], Sequence[str]]
"""The lines of a file (or of one cell of a notebook), without their ends; nothing where it cannot be read."""


def no_source_lines(filename: str, cell: int | None) -> Sequence[str]:
    """Stands in where no source can be had."""
    return ()


@dataclass(frozen=True, slots=True)
class ReportContext:
    """The circumstances of a report. `base` is the directory from which the service that reads it counts paths."""

    lines: LineReader = no_source_lines
    color: bool = False
    width: int = 120
    checked: int = 0
    rules: Mapping[str, RuleCard] = field(default_factory=dict)
    base: Path = field(default_factory=Path.cwd)

    def relative(self, filename: str) -> str:
        """The file as seen from `base`, or as it is where it lies elsewhere."""
        path, base = Path(filename).resolve(), self.base.resolve()
        return path.relative_to(base).as_posix() if path.is_relative_to(base) else filename


class OutputFormat(Protocol):
    """An output format: the text of the report, in pieces that are written one after the other."""

    def __call__(self, diagnostics: Sequence[Diagnostic], page: ReportContext) -> Iterator[str]:
        """Write the findings, which come sorted."""
