"""The command `devlint check`: its options, and their conversion to a `CheckRequest`."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from devlint.cli import shell_completion, terminal
from devlint.cli.exit_status import CLEAN
from devlint.cli.option_values import (
    ReportTarget,
    chosen_rules,
    nearly_known_variables,
    output_file_option,
    parse_jobs,
    parse_min_torch,
    parse_report_targets,
    parse_shard,
    place_targets,
    rule_options,
    split_commas,
    variable_of,
)
from devlint.diagnostic import Confidence
from devlint.linter.shard import Shard
from devlint.output import FOR_PEOPLE, FORMATS
from devlint.semantics.accelerators import Version

_OPTIONAL_VALUES: Final = {"--changed": "--changed=HEAD", "--add-ignore": "--add-ignore="}
"""Options whose value is optional, with their default; a value needs `=`, so that a path can follow the option."""
_SECTIONS: Final = {
    "Rules": ("select", "ignore", "extend_select", "min_confidence", "min_torch"),
    "Files": (
        "exclude",
        "extend_exclude",
        "force_exclude",
        "respect_gitignore",
        "stdin_filename",
        "show_files",
        "watching",
    ),
    "Known findings": ("changed", "baseline", "no_baseline", "update_baseline", "add_ignore"),
    "Fixes": ("fix", "unsafe_fixes", "diff", "fix_only", "show_fixes"),
    "Report": ("output_format", "output_file", "statistics", "exit_zero", "color", "quiet", "verbose"),
    "Configuration": ("config", "isolated", "show_settings"),
    "Speed": ("jobs", "shard", "no_cache", "cache_dir", "profile"),
}
"""The sections of the help, each with the names of the parameters whose options it lists."""


class _CheckCommand(click.Command):
    """The click command class of `devlint check`: some options take an optional value, and the help has sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line.

        An option that is given without its optional value first gets its default value. What is wrong with a value from
        the environment is said of the environment variable.
        """
        try:
            return super().parse_args(ctx, [_OPTIONAL_VALUES.get(arg, arg) for arg in args])
        except click.BadParameter as problem:
            name = problem.param.name if problem.param is not None else None
            if name is not None and ctx.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
                problem.param_hint = variable_of(ctx, name)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help, a section for each purpose."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        known = {option.name: option.get_help_record(ctx) for option in options}
        named = {name for names in _SECTIONS.values() for name in names}
        rest = [name for name in known if name is not None and name not in named]
        for title, names in {**_SECTIONS, "Other options": rest}.items():
            records = [record for name in names if (record := known[name]) is not None]
            with formatter.section(title):
                formatter.write_dl(records)


@click.command(cls=_CheckCommand, context_settings={"auto_envvar_prefix": "DEVLINT"})
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@rule_options
@click.option(
    "--min-confidence",
    type=click.Choice([confidence.value for confidence in Confidence]),
    help="Leave out findings with a lower confidence.  [default: likely]",
)
@click.option(
    "--min-torch",
    metavar="VERSION",
    callback=parse_min_torch,
    help="The oldest torch that the code supports: what it lacks is not suggested."
    "  [default: the oldest that pyproject.toml admits, else 2.9]",
)
@click.option(
    "--exclude", multiple=True, metavar="PATTERNS", help="Files and directories to leave out, instead of the defaults."
)
@click.option(
    "--extend-exclude", multiple=True, metavar="PATTERNS", help="Files and directories to leave out in addition."
)
@click.option("--force-exclude", is_flag=True, default=None, help="Leave out excluded files even if they are named.")
@click.option(
    "--respect-gitignore/--no-respect-gitignore",
    default=None,
    help="Leave out files that .gitignore excludes.  [default: yes]",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Use this configuration file instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@click.option(
    "--output-format",
    metavar="FORMAT[:FILE],...",
    callback=parse_report_targets,
    shell_complete=shell_completion.complete_formats,
    help=f"Format of the report, and where to write it: {', '.join(FORMATS)}."
    "  [default: full on a terminal, else concise]",
)
@output_file_option
@click.option("--stdin-filename", metavar="FILE", help="The file name of the text on the standard input.")
@click.option(
    "--changed", metavar="[=REF]", help="Report only findings that concern changes since a commit.  [default: HEAD]"
)
@click.option(
    "--baseline", type=click.Path(path_type=Path, dir_okay=False), help="Leave out findings that are recorded in FILE."
)
@click.option("--no-baseline", is_flag=True, help="Ignore the baseline file that the configuration names.")
@click.option("--update-baseline", is_flag=True, help="Write the baseline again, and report nothing.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes, and report the other findings.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix, also apply fixes that may change behaviour; alone, show them."
)
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--fix-only", is_flag=True, help="Apply fixes, and report nothing.")
@click.option("--show-fixes", is_flag=True, help="List what was fixed.")
@click.option(
    "--add-ignore", metavar="[=REASON]", help="Add comments that silence the findings, and report the others."
)
@click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if something was found.")
@click.option(
    "--statistics",
    is_flag=True,
    help="Count the findings of each rule: the format `statistics`. Tell the time and the memory that the run took.",
)
@click.option("--show-files", is_flag=True, help="List the files that would be checked, and check nothing.")
@click.option("--show-settings", is_flag=True, help="Show the settings for the first path, and check nothing.")
@click.option("--watch", "watching", is_flag=True, help="Check again whenever a file changes.")
@click.option("--no-cache", is_flag=True, help="Analyse every file again, and store nothing.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the cache.  [default: .devlint_cache at the root of the project]",
)
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    default="auto",
    callback=parse_jobs,
    help="The number of processes at most; `auto` is one for each processor.  [default: auto]",
)
@click.option(
    "--shard",
    metavar="K/N",
    callback=parse_shard,
    help="Do part K of N of the work; `devlint merge` makes one report of those of all parts.",
)
@click.option(
    "--profile",
    is_flag=True,
    help="Write the slowest files and definitions, the time and the peak memory to the standard error stream.",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell on the standard error stream what is done.")
@click.option("-q", "--quiet", is_flag=True, help="Write findings and errors only: no notes, warnings or progress.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Whether reports on the standard output have colours.  [default: auto]",
)
def check(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    min_confidence: str | None,
    min_torch: Version | None,
    exclude: tuple[str, ...],
    extend_exclude: tuple[str, ...],
    force_exclude: bool | None,
    respect_gitignore: bool | None,
    config: Path | None,
    isolated: bool,
    output_format: tuple[ReportTarget, ...] | None,
    output_file: Path | None,
    stdin_filename: str | None,
    changed: str | None,
    baseline: Path | None,
    no_baseline: bool,
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
    no_cache: bool,
    cache_dir: Path | None,
    jobs: int,
    shard: Shard | None,
    profile: bool,
    verbose: bool,
    quiet: bool,
    color: str,
) -> int:
    """Check files and directories. `-` is the standard input."""
    # Imported here since these modules load the analysis, and `--help` must be fast.
    from devlint.cli.check_run import CheckRequest, list_files, run_check, settings_of_first_path
    from devlint.cli.fix_options import FixOptions
    from devlint.config.settings_text import settings_as_toml

    stdin = Path("-") in paths or (stdin_filename is not None and not paths)
    if stdin and len(paths) > 1:
        raise click.UsageError("`-` takes no other path beside it")
    if no_baseline and (baseline is not None or update_baseline):
        raise click.UsageError("--no-baseline goes neither with --baseline nor with --update-baseline")
    if update_baseline and changed is not None:
        raise click.UsageError("--update-baseline cannot be combined with --changed")
    if watching and (stdin or update_baseline):
        raise click.UsageError("--watch goes neither with `-` nor with --update-baseline")
    if update_baseline and (fix or diff or fix_only):
        raise click.UsageError("--update-baseline cannot be combined with fixes: apply them first")
    if profile and (fix or diff or fix_only or unsafe_fixes or add_ignore is not None):
        raise click.UsageError("--profile cannot be combined with fixes: it measures one check")
    targets = _report_targets(output_format, output_file, statistics=statistics)
    # Without --fix, nothing may be changed: the user sees what would be, if a user reads the report.
    alone = unsafe_fixes and not (fix or fix_only or diff or watching or update_baseline or add_ignore is not None)
    shown_only = alone and all(target.path is None and target.format in FOR_PEOPLE for target in targets)
    if add_ignore is not None and (fix or fix_only or update_baseline or watching):
        raise click.UsageError("--add-ignore cannot be combined with --fix, --fix-only, --update-baseline or --watch")
    if add_ignore is not None and re.search(r"[#\r\n]", add_ignore):
        raise click.UsageError("--add-ignore: the reason must be one line without `#`")
    for name, is_given in {
        "--fix": fix,
        "--unsafe-fixes": unsafe_fixes,
        "--diff": diff,
        "--fix-only": fix_only,
        "--add-ignore": add_ignore is not None,
        "--update-baseline": update_baseline,
        "--watch": watching,
        "`-`": stdin,
    }.items():
        if shard is not None and is_given:
            raise click.UsageError(f"--shard cannot be combined with {name}: it reports on a part of the files")
    request = CheckRequest(
        paths=() if stdin else paths or (Path(),),
        options=replace(
            chosen_rules(select, ignore, extend_select),
            min_confidence=Confidence(min_confidence) if min_confidence else None,
            exclude=split_commas(exclude),
            extend_exclude=split_commas(extend_exclude),
            force_exclude=force_exclude,
            respect_gitignore=respect_gitignore,
            cache_dir=str(cache_dir) if cache_dir is not None else None,
            min_torch=min_torch,
        ),
        targets=targets,
        config=config,
        isolated=isolated,
        stdin_name=(stdin_filename or "-") if stdin else None,
        changed_since=changed,
        baseline=baseline,
        no_baseline=no_baseline,
        update_baseline=update_baseline,
        exit_zero=exit_zero,
        verbose=verbose,
        profile=profile,
        costs=statistics,
        use_cache=not no_cache,
        jobs=1 if watching else jobs,
        shard=shard,
        arguments=sys.argv[1:],
        fix_options=(
            FixOptions(unsafe_fixes, diff or shown_only, fix_only, show_fixes, stdin, add_ignore, shown_only)
            if fix or diff or fix_only or shown_only or add_ignore is not None
            else None
        ),
    )
    if show_files:
        return list_files(request)
    if show_settings:
        click.echo(settings_as_toml(settings_of_first_path(request)))
        return CLEAN
    with terminal.settings(quiet=quiet, color=None if color == "auto" else color == "always"):
        if watching:
            # Imported here to keep the start-up of the other options fast.
            from devlint.cli.watch import watch

            return watch(request)
        if alone and not shown_only:
            terminal.note("no file was changed: --unsafe-fixes needs --fix")
        for variable, meant in nearly_known_variables(click.get_current_context()):
            terminal.warn(f"{variable} in the environment is no setting (did you mean {meant}?)")
        return run_check(request)


def _report_targets(
    targets: tuple[ReportTarget, ...] | None, output_file: Path | None, *, statistics: bool
) -> tuple[ReportTarget, ...]:
    """Return the format and the file of each report to write, from all options that concern reports."""
    if statistics:
        targets = (*(targets or ()), ReportTarget("statistics"))
    if targets is None:
        for_people = output_file is None and sys.stdout.isatty()
        targets = (ReportTarget("full" if for_people else "concise"),)
    return place_targets(targets, output_file)
