"""A check of the cells of an interactive session, of which the last one is about to run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devlint.api import check_source
from devlint.config.config_error import ConfigError
from devlint.diagnostic import Diagnostic
from devlint.output import full_format
from devlint.output.report_context import ReportContext

FILENAME: Final = "session.ipynb"
"""The name that findings give to the session; its settings are those of the current directory."""


@dataclass(frozen=True, slots=True)
class ChosenRules:
    """The rules that the line of a magic turns on or off, besides the settings; None for what it does not name."""

    select: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    extend_select: Sequence[str] | None = None


def check_last_cell(cells: Sequence[str], chosen: ChosenRules) -> Iterator[str]:
    """Yield the report on the last of some cells, which are one program; the others have run before it.

    Cells are numbered from 1, as a session numbers them; an empty text stands for a cell of which nothing is known.
    """
    try:
        result = check_source(
            _as_notebook(cells),
            FILENAME,
            select=chosen.select,
            ignore=chosen.ignore,
            extend_select=chosen.extend_select,
        )
    except ConfigError as problem:
        yield f"devlint: {problem}\n"
        return
    yield from (f"devlint: {text}\n" for text in result.problems)
    found = [one for one in result.diagnostics if _concerns_cell(one, len(cells))]

    def lines(filename: str, cell: int | None) -> Sequence[str]:
        return cells[cell - 1].splitlines() if cell is not None and Path(filename).name == FILENAME else ()

    yield from full_format.blocks(found, ReportContext(lines=lines))
    count = "1 finding" if len(found) == 1 else f"{len(found) or 'no'} findings"
    yield f"devlint: {count} in this cell\n"


def _concerns_cell(diagnostic: Diagnostic, number: int) -> bool:
    """Return whether a finding is in a cell, or one of the steps that led to it: the cell may break an earlier one."""
    return any(region.cell == number for region in (diagnostic.region, *(one.region for one in diagnostic.trace)))


def _as_notebook(cells: Sequence[str]) -> str:
    """Return the text of a notebook file with these code cells."""
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
                for text in cells
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )
