"""Colours of the output formats for terminals, and source positions as text such as `file:row:column`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from devlint.diagnostic import Region, Severity

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """The colours in which each kind of text is written to a terminal; without `color`, texts are not changed."""

    color: bool

    def severity(self, severity: Severity, text: str) -> str:
        """Return a text in the bold colour of a severity, such as red for errors."""
        return click.style(text, fg=_COLORS[severity], bold=True) if self.color else text

    def strong(self, text: str) -> str:
        """Return a text in bold, or unchanged if colours are off."""
        return click.style(text, bold=True) if self.color else text

    def place(self, text: str) -> str:
        """Return a source location such as `file:row:column` in the colour of source locations."""
        return click.style(text, fg="cyan") if self.color else text

    def frame(self, text: str) -> str:
        """Return a text in the colour in which line numbers, and the bars beside source lines, are written."""
        return click.style(text, fg="blue", bold=True) if self.color else text


def format_place(region: Region) -> str:
    """Return `file:row:column` for the start of a region, or `file:cell N:row:column` in a notebook."""
    return f"{region.filename}:{format_row_and_column(region)}"


def format_row_and_column(region: Region) -> str:
    """Return `row:column` for the start of a region, or `cell N:row:column` in a notebook."""
    cell = f"cell {region.cell}:" if region.cell is not None else ""
    return f"{cell}{region.start.row}:{region.start.column}"
