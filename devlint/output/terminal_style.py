"""The colours of the formats that people read, and how they name a place."""

from __future__ import annotations

from dataclasses import dataclass

import click

from devlint.diagnostic import Region, Severity

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """Colours a piece of text for what it is, or leaves it as it is where there are no colours."""

    color: bool

    def severity(self, severity: Severity, text: str) -> str:
        """What ranks a finding, and the carets below it."""
        return click.style(text, fg=_COLORS[severity], bold=True) if self.color else text

    def strong(self, text: str) -> str:
        """The message."""
        return click.style(text, bold=True) if self.color else text

    def place(self, text: str) -> str:
        """A place in a file."""
        return click.style(text, fg="cyan") if self.color else text

    def frame(self, text: str) -> str:
        """The lines around the source."""
        return click.style(text, fg="blue", bold=True) if self.color else text


def format_place(region: Region) -> str:
    """`file:row:column`, with the cell of a notebook before the row."""
    return f"{region.filename}:{format_row_and_column(region)}"


def format_row_and_column(region: Region) -> str:
    """`row:column`, with the cell of a notebook before it."""
    cell = f"cell {region.cell}:" if region.cell is not None else ""
    return f"{cell}{region.start.row}:{region.start.column}"
