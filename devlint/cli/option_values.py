"""Parsers for values of command-line options: report targets, numbers of processes, lists separated by commas."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import click

from devlint.cli import shell_completion
from devlint.config.config_error import unknown_name_message
from devlint.config.config_options import Options
from devlint.linter.shard import Shard
from devlint.output import FORMATS
from devlint.semantics.accelerators import Version, parse_version


@dataclass(frozen=True, slots=True)
class ReportTarget:
    """One report to write: its output format, and the file to write it to, or None for the standard output."""

    format: str
    path: Path | None = None


def parse_report_targets(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[ReportTarget, ...] | None:
    """Return the reports to write that the value `FORMAT[:FILE],...` of the option `--output-format` names."""
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


def place_targets(targets: Iterable[ReportTarget], output_file: Path | None) -> tuple[ReportTarget, ...]:
    """Return report targets of which those without a file of their own go to `output_file`.

    Raise UsageError if two reports would go to one place.
    """
    placed = tuple(ReportTarget(target.format, target.path or output_file) for target in targets)
    places = [target.path for target in placed]
    if len(set(places)) < len(places):
        raise click.UsageError("two formats go to one place; name a file for each: FORMAT:FILE")
    return placed


class OptionWithHiddenNames(click.Option):
    """A click option that has several names, of which the help shows only the first."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line about the option in the help, with its first name only."""
        names = self.opts
        self.opts = names[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


output_file_option: Final = click.option(
    "--output-file",
    "--output",
    cls=OptionWithHiddenNames,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report to a file.",
)
"""The option of all commands with a report that names the file to write it to."""


def rule_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that choose rules: `select`, `ignore` and `extend_select`."""
    named = "codes, prefixes such as DEV1, groups such as PORTABILITY, names, or ALL"
    for name, meaning in reversed(
        (
            ("select", f"Rules to turn on: {named}."),
            ("ignore", "Rules to turn off."),
            ("extend-select", "Rules to turn on in addition to the selected ones."),
        )
    ):
        command = click.option(
            f"--{name}",
            multiple=True,
            metavar="RULES",
            envvar=f"DEVLINT_{name.upper().replace('-', '_')}",
            shell_complete=shell_completion.complete_selectors,
            help=meaning,
        )(command)
    return command


def chosen_rules(select: Iterable[str], ignore: Iterable[str], extend_select: Iterable[str]) -> Options:
    """Return the options for the values that the options of `rule_options` were given."""
    return Options(select=split_commas(select), ignore=split_commas(ignore), extend_select=split_commas(extend_select))


def parse_jobs(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """Return the number of processes that the value of the option `--jobs` allows: a number from 1, or `auto`.

    `auto` is the number of processors that this process may use.
    """
    if value == "auto":
        affinity = getattr(os, "sched_getaffinity", None)  # not on every system
        return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither a number of processes nor `auto`", ctx, param)
    return int(value)


def parse_shard(ctx: click.Context, param: click.Parameter, value: str | None) -> Shard | None:
    """Return the part of the run that the value `K/N` of the option `--shard` names."""
    if value is None:
        return None
    number, _, count = value.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise click.BadParameter(
            f"{value!r} is no part of a run: write K/N with K from 1 to N, such as 2/3", ctx, param
        )
    return Shard(int(number), int(count))


def parse_min_torch(ctx: click.Context, param: click.Parameter, value: str | None) -> Version | None:
    """Return the version of torch that the value of the option `--min-torch` names, such as "2.9", as numbers."""
    if value is None:
        return None
    try:
        return parse_version(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from None


def split_commas(values: Iterable[str]) -> tuple[str, ...] | None:
    """Return all items given to a repeatable option whose values are lists separated by commas.

    Return None if the option was not given.
    """
    given = list(values)
    if not given:
        return None
    return tuple(item.strip() for value in given for item in value.split(",") if item.strip())


def variable_of(ctx: click.Context, name: str) -> str:
    """Return the name of the environment variable that gives a parameter of a command its value."""
    return f"{ctx.auto_envvar_prefix}_{name.upper()}"


def nearly_known_variables(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """Yield each environment variable that is nearly one of a command's options, with the one that it probably means.

    What is like none, such as a DEVLINT_VERSION that installs devlint, is somebody else's.
    """
    known = {variable_of(ctx, param.name) for param in ctx.command.params if param.name is not None}
    prefix = variable_of(ctx, "")
    for variable in sorted(name for name in os.environ if name.startswith(prefix) and name not in known):
        words = [name.removeprefix(prefix) for name in known]
        for close in get_close_matches(variable.removeprefix(prefix), words, n=1, cutoff=0.75):
            yield variable, f"{prefix}{close}"
