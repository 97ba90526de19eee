"""Parsers for option values: report targets, and lists separated by commas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from devlint.config.config_error import unknown_name_message
from devlint.output import FORMATS


@dataclass(frozen=True, slots=True)
class ReportTarget:
    """A report to write: its format, and its file (None: the standard output)."""

    format: str
    path: Path | None = None


def parse_report_targets(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[ReportTarget, ...] | None:
    """Return the report targets in `FORMAT[:FILE],...`, the value of `--output-format`."""
    if value is None:
        return None
    targets = []
    for part in value.split(","):
        name, _, path = part.strip().partition(":")
        if name not in FORMATS:
            raise click.BadParameter(
                f"{unknown_name_message('format', name, FORMATS)}; one of {', '.join(FORMATS)}", ctx, param
            )
        targets.append(ReportTarget(name, Path(path) if path else None))
    return tuple(targets)


def split_commas(values: Iterable[str]) -> tuple[str, ...] | None:
    """Return the items of a repeatable option that takes commas, or None if the option was not given."""
    given = list(values)
    if not given:
        return None
    return tuple(item.strip() for value in given for item in value.split(",") if item.strip())
