"""Values that options take, beyond those that click knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from devlint.config.config_error import unknown_name_message
from devlint.output import FORMATS


@dataclass(frozen=True, slots=True)
class Target:
    """A report to write: its format, and the file it goes to (None: the standard output)."""

    format: str
    path: Path | None = None


def parse_targets(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[Target, ...] | None:
    """`FORMAT[:FILE]`, several of them separated by commas."""
    if value is None:
        return None
    targets = []
    for part in value.split(","):
        name, _, path = part.strip().partition(":")
        if name not in FORMATS:
            raise click.BadParameter(
                f"{unknown_name_message('format', name, FORMATS)}; one of {', '.join(FORMATS)}", ctx, param
            )
        targets.append(Target(name, Path(path) if path else None))
    return tuple(targets)


def split(values: Iterable[str]) -> tuple[str, ...] | None:
    """The items of an option that takes commas and may be repeated; None where it was not given."""
    given = list(values)
    if not given:
        return None
    return tuple(item.strip() for value in given for item in value.split(",") if item.strip())
