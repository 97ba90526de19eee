"""`devlint check`: the options of the main command."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import click

from devlint.cli import completion
from devlint.cli.parameters import Target, parse_targets, split
from devlint.cli.status import CLEAN
from devlint.config.config_options import Options
from devlint.diagnostic import Confidence

_ALONE: Final = {"--changed": "--changed=HEAD", "--add-ignore": "--add-ignore="}
"""Options that stand alone or with a value behind `=`; what follows them is a path."""


class _Check(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [_ALONE.get(arg, arg) for arg in args])


@click.command(cls=_Check, context_settings={"auto_envvar_prefix": "DEVLINT"})
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    shell_complete=completion.rules,
    help="Rules that are on: codes, DEV1, names, ALL.",
)
@click.option("--ignore", multiple=True, metavar="RULES", shell_complete=completion.rules, help="Rules that are off.")
@click.option(
    "--extend-select",
    multiple=True,
    metavar="RULES",
    shell_complete=completion.rules,
    help="Rules that are on besides the others.",
)
@click.option(
    "--min-confidence",
    type=click.Choice([confidence.value for confidence in Confidence]),
    help="Leave out findings that devlint is less sure of.  [default: likely]",
)
@click.option("--exclude", multiple=True, metavar="PATTERNS", help="What to leave out, instead of the usual.")
@click.option("--extend-exclude", multiple=True, metavar="PATTERNS", help="What to leave out besides.")
@click.option("--force-exclude", is_flag=True, default=None, help="Leave out excluded files even where they are named.")
@click.option(
    "--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what .gitignore does.  [default: yes]"
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Use this configuration file instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Pass over all configuration files.")
@click.option(
    "--output-format",
    metavar="FORMAT[:FILE],...",
    callback=parse_targets,
    shell_complete=completion.formats,
    help="How findings are written, and where to.  [default: full on a terminal, else concise]",
)
@click.option("--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file.")
@click.option("--stdin-filename", metavar="FILE", help="The name of what is read from the standard input.")
@click.option("--changed", metavar="[=REF]", help="Report only what concerns changes since a commit.  [default: HEAD]")
@click.option("--baseline", type=click.Path(path_type=Path, dir_okay=False), help="Leave out findings known in FILE.")
@click.option("--update-baseline", is_flag=True, help="Write the baseline anew, and report nothing.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes, and report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply with --fix also those that may change behaviour.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--fix-only", is_flag=True, help="Apply fixes, and report nothing.")
@click.option("--show-fixes", is_flag=True, help="List what was fixed.")
@click.option("--add-ignore", metavar="[=REASON]", help="Silence by comments what is found, and report what is left.")
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 even where something was found.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule: the format `statistics`.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and check nothing.")
@click.option("--show-settings", is_flag=True, help="Say what settings hold for the first path, and check nothing.")
@click.option("--watch", "watching", is_flag=True, help="Check again whenever a file changes.")
@click.option("-v", "--verbose", is_flag=True, help="Say more on the standard error.")
def check(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    min_confidence: str | None,
    exclude: tuple[str, ...],
    extend_exclude: tuple[str, ...],
    force_exclude: bool | None,
    respect_gitignore: bool | None,
    config: Path | None,
    isolated: bool,
    output_format: tuple[Target, ...] | None,
    output_file: Path | None,
    stdin_filename: str | None,
    changed: str | None,
    baseline: Path | None,
    update_baseline: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    fix_only: bool,
    show_fixes: bool,
    add_ignore: str | None,
    exit_zero: bool,
    statistics: bool,
    show_files: bool,
    show_settings: bool,
    watching: bool,
    verbose: bool,
) -> int:
    """Check files and directories. `-` is the standard input."""
    from devlint.cli.job import Request, list_files, run, settings_of
    from devlint.cli.mending import Mending
    from devlint.config.settings_text import settings_as_toml

    stdin = Path("-") in paths or (stdin_filename is not None and not paths)
    if stdin and len(paths) > 1:
        raise click.UsageError("`-` takes no other path beside it")
    if update_baseline and (baseline is None or changed is not None):
        raise click.UsageError("--update-baseline needs --baseline, and a run that looks at more than changes")
    if watching and (stdin or update_baseline):
        raise click.UsageError("--watch goes neither with `-` nor with --update-baseline")
    if update_baseline and (fix or diff or fix_only):
        raise click.UsageError("--update-baseline takes findings as they are: fix them first")
    if add_ignore is not None and (fix or fix_only or update_baseline or watching):
        raise click.UsageError("--add-ignore stands for itself: fix first what can be fixed")
    if add_ignore is not None and re.search(r"[#\r\n]", add_ignore):
        raise click.UsageError("--add-ignore: a reason is one line without `#`")
    request = Request(
        paths=() if stdin else paths or (Path(),),
        options=Options(
            select=split(select),
            ignore=split(ignore),
            extend_select=split(extend_select),
            min_confidence=Confidence(min_confidence) if min_confidence else None,
            exclude=split(exclude),
            extend_exclude=split(extend_exclude),
            force_exclude=force_exclude,
            respect_gitignore=respect_gitignore,
        ),
        targets=_targets(output_format, output_file, statistics=statistics),
        config=config,
        isolated=isolated,
        stdin_name=(stdin_filename or "-") if stdin else None,
        changed_since=changed,
        baseline=baseline,
        update_baseline=update_baseline,
        exit_zero=exit_zero,
        verbose=verbose,
        mending=(
            Mending(unsafe_fixes, diff, fix_only, show_fixes, stdin, add_ignore)
            if fix or diff or fix_only or add_ignore is not None
            else None
        ),
    )
    if show_files:
        return list_files(request)
    if show_settings:
        click.echo(settings_as_toml(settings_of(request)))
        return CLEAN
    if watching:
        from devlint.cli.watch import watch

        return watch(request)
    return run(request)


def _targets(targets: tuple[Target, ...] | None, output_file: Path | None, *, statistics: bool) -> tuple[Target, ...]:
    """Where each report goes, given what all the options say."""
    if statistics:
        targets = (*(targets or ()), Target("statistics"))
    if targets is None:
        terminal = output_file is None and sys.stdout.isatty()
        targets = (Target("full" if terminal else "concise"),)
    placed = tuple(Target(target.format, target.path or output_file) for target in targets)
    places = [target.path for target in placed]
    if len(set(places)) < len(places):
        raise click.UsageError("two formats go to one place; name a file for each: FORMAT:FILE")
    return placed
