"""The colours of the formats for terminals, and the text of a place in a file."""

from __future__ import annotations

from dataclasses import dataclass

import click

from devlint.diagnostic import Region, Severity

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """The colours of each kind of text; without `color`, text stays as it is."""

    color: bool

    def severity(self, severity: Severity, text: str) -> str:
        """Return text in the colour of a severity."""
        return click.style(text, fg=_COLORS[severity], bold=True) if self.color else text

    def strong(self, text: str) -> str:
        """Return text in bold."""
        return click.style(text, bold=True) if self.color else text

    def place(self, text: str) -> str:
        """Return the text of a place in a file in the colour of places."""
        return click.style(text, fg="cyan") if self.color else text

    def frame(self, text: str) -> str:
        """Return text in the colour of a code frame's gutter and bars."""
        return click.style(text, fg="blue", bold=True) if self.color else text


def format_place(region: Region) -> str:
    """Return `file:row:column` for the start of a region, with the cell of a notebook before the row."""
    return f"{region.filename}:{format_row_and_column(region)}"


def format_row_and_column(region: Region) -> str:
    """Return `row:column` for the start of a region, with the cell of a notebook before it."""
    cell = f"cell {region.cell}:" if region.cell is not None else ""
    return f"{cell}{region.start.row}:{region.start.column}"
