"""The command `devlint run`: run a program on emulated or real devices, and report what happened.

The report judges each finding of the static analysis.
"""

from __future__ import annotations

import gc
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED, FOUND
from devlint.cli.option_values import (
    ReportTarget,
    chosen_rules,
    output_file_option,
    parse_report_targets,
    place_targets,
    rule_options,
)
from devlint.cli.output_streams import report_base, write_file, write_stdout
from devlint.config.config_options import Options
from devlint.installation import install_command
from devlint.output import FORMATS
from devlint.runtime.backends import ALL_DEVICES, EMULATED_OPTIONS, HOST
from devlint.runtime.device_comparison import ComparisonRequest, as_json, as_table, compare_devices
from devlint.runtime.report_wording import count_text
from devlint.syntax.notebook import SUFFIX
from devlint.triage.baseline import BaselineError, NoBaselineError, read_baseline

if TYPE_CHECKING:
    from devlint.runtime.configured_linter import ConfiguredLinter
    from devlint.runtime.training_steps import WaitsPerStep

DEVICES = ("auto", *EMULATED_OPTIONS, ALL_DEVICES, "mps", "cuda", HOST)
"""The values of `--device`."""
_COMMAND_LINE = "devlint.cli.run_command"
"""The key under which the context keeps the command line."""


class CannotRun(click.ClickException):
    """Exception that ends `devlint run` with one line, because what it needs to run the program is missing."""

    exit_code = FAILED


class _RunCommand(click.Command):
    """The click command class of `devlint run`, which keeps the command line as it was written, for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, after keeping it in the context."""
        ctx.meta[_COMMAND_LINE] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(
    short_help="Run a program, and report what its tensors did.",
    cls=_RunCommand,
    context_settings={"allow_interspersed_args": False},
)
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="auto",
    show_default=True,
    help="Where the program runs: auto is cuda where there is one, else emulated, which is an emulated cuda;"
    " cpu is a machine without an accelerator.",
)
@click.option("--devices", type=click.IntRange(1, 64), default=1, show_default=True, help="How many to emulate.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Use this configuration file instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Pass over all configuration files.")
@rule_options
@click.option("--no-lint", is_flag=True, help="Record only, without the static findings.")
@click.option(
    "--keep-going", is_flag=True, help="Go on after an error of devices or dtypes, as if the tensor were moved or cast."
)
@click.option("--census", is_flag=True, help="List the tensors that stay behind when the program moves a module.")
@click.option("--all", "everything", is_flag=True, help="Show all of what a report leaves out to be short.")
@click.option(
    "--max-waits-per-step",
    type=click.IntRange(0),
    help="Exit with 1 if the host waits more often for the accelerator in a training step (the median of the steps).",
)
@click.option(
    "--export-cases",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    metavar="DIR",
    help="Write each error that no static finding predicted there, as a small program and what was seen.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False, resolve_path=True),
    metavar="FILE",
    help="Exit with 1 only for errors that FILE does not record.",
)
@click.option("--update-baseline", is_flag=True, help="Write the errors that were seen to the baseline.")
@click.option(
    "--output-format",
    metavar="FORMAT[:FILE],...",
    callback=parse_report_targets,
    default="full",
    show_default=True,
    help=f"Format of the report, and where to write it: {', '.join(FORMATS)}.",
)
@output_file_option
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module, as with python -m.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    device: str,
    devices: int,
    config: Path | None,
    isolated: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    no_lint: bool,
    keep_going: bool,
    census: bool,
    everything: bool,
    max_waits_per_step: int | None,
    export_cases: Path | None,
    baseline: Path | None,
    update_baseline: bool,
    output_format: tuple[ReportTarget, ...],
    output_file: Path | None,
    module: bool,
    program: str,
    arguments: tuple[str, ...],
) -> int:
    """Run PROGRAM and report on stderr (or to --output-file) what was moved, waited for and wrong.

    The exit status is the program's own, or 1 when it ended with 0 and an error was seen to happen, or the host waited
    too often. With --baseline, only errors that it does not record count.

    With --device emulated:all, run PROGRAM on the CPU and on each emulated accelerator, and report where it runs and
    whether it computes the same. The exit status is 0 if it does everywhere, otherwise 1.
    """
    targets = [
        ReportTarget(target.format, target.path and target.path.absolute())  # the program may leave the directory
        for target in place_targets(output_format, output_file)
    ]
    chosen = chosen_rules(select, ignore, extend_select)
    sources = map(click.get_current_context().get_parameter_source, ("select", "ignore", "extend_select"))
    if no_lint and ParameterSource.COMMANDLINE in sources:
        raise click.UsageError("--no-lint goes with none of --select, --ignore and --extend-select")
    _require_program(program, module=module)
    _require_baseline(baseline, updated=update_baseline)
    if device == ALL_DEVICES:
        if census or max_waits_per_step is not None or export_cases is not None or baseline is not None:
            alone = "--census, --max-waits-per-step, --export-cases or --baseline"
            raise click.UsageError(f"--device {ALL_DEVICES} does not go with {alone}")
        status = _compare(ComparisonRequest(program, module, arguments, devices, keep_going), targets)
    else:
        linter = None if no_lint else _linter(config, _folder(program, module=module), isolated, chosen)
        gc.enable()  # the command line turns it off, but a program runs with it
        try:
            # Imported here because torch is an optional dependency, and slow to import.
            from devlint.runtime import exported_cases, seen_baseline
            from devlint.runtime.program_runner import RunRequest, run_program
            from devlint.runtime.report_forms import render_report

            request = RunRequest(
                program,
                module,
                arguments,
                device,
                devices,
                keep_going=keep_going,
                census=census,
                command=click.get_current_context().meta[_COMMAND_LINE],
            )
            status, report = run_program(request, linter)
        except ModuleNotFoundError as missing:
            if missing.name != "torch":
                raise
            raise _needs_torch() from None
        for target in targets:
            color = target.path is None and terminal.has_color(sys.stderr)
            columns = terminal.width() if target.path is None and terminal.is_shown(to_stderr=True) else None
            text = render_report(
                report, target.format, base=report_base(), color=color, everything=everything, columns=columns
            )
            _write(text, target.path)
        if export_cases is not None:
            written = exported_cases.export_cases(report, export_cases)
            terminal.note(f"{count_text(len(written), 'case')} written to {export_cases}")
        errors = [outcome.diagnostic for outcome in report.outcomes if outcome.fatal]
        if baseline is not None and update_baseline:
            seen_baseline.write_baseline(errors, baseline)
            terminal.note(f"{count_text(len(errors), 'error')} written to {baseline}")
        if baseline is not None:
            errors = list(seen_baseline.new_errors(errors, baseline))
        status = status or int(bool(errors))
        if max_waits_per_step is not None:
            over_budget = _over_budget(report.waits_per_step, max_waits_per_step)
            status = status or over_budget
    click.get_current_context().exit(status)
    return status


def _require_baseline(baseline: Path | None, *, updated: bool) -> None:
    """End the command, before the program runs, if there is no baseline that can be read or written."""
    if baseline is None:
        if updated:
            raise click.UsageError("--update-baseline needs --baseline")
    elif not updated:
        try:
            read_baseline(baseline)
        except NoBaselineError as problem:
            raise CannotRun(f"{problem}; --update-baseline makes it") from None
        except BaselineError as problem:
            raise CannotRun(str(problem)) from None


def _compare(request: ComparisonRequest, targets: list[ReportTarget]) -> int:
    """Compare runs of a program on all devices, write the reports, and return the exit status.

    What the program prints on the CPU is printed.
    """
    if any(target.format not in ("full", "json") for target in targets):
        raise click.UsageError(f"--device {ALL_DEVICES} writes a table or JSON")
    if not _is_installed("torch"):
        raise _needs_torch()
    rows = compare_devices(request)
    click.echo(rows[0].run.printed, nl=False)
    for target in targets:
        _write(as_json(rows) if target.format == "json" else as_table(rows), target.path)
    return int(not all(row.agrees for row in rows))


def _over_budget(waits: WaitsPerStep | None, most: int) -> int:
    """Return the exit status of the budget of waits, after saying why if it is not 0.

    It is 1 if the host waited more often in a training step, and 2 if no whole step was seen.
    """
    if waits is None:
        terminal.error("--max-waits-per-step: the program made fewer than two steps of an optimizer")
        return FAILED
    if waits.median > most:
        terminal.error(f"the host waits {waits.median:g} times in a training step, and may {most} times")
        return FOUND
    return CLEAN


def _write(text: str, path: Path | None) -> None:
    """Write a report to a file, or to the standard error stream if none is named."""
    if path is None:
        write_stdout([text], color=True, to_stderr=True)
    else:
        write_file([text], path)


def _folder(program: str, *, module: bool) -> Path:
    """Return the folder whose configuration holds for a program."""
    return Path.cwd() if module else Path(program).absolute().parent


def _require_program(program: str, *, module: bool) -> None:
    """Raise CannotRun if there is no such program, or no such module, or if the program is a notebook."""
    if not module and program.endswith(SUFFIX):
        raise CannotRun(
            f"{program} is a notebook, and devlint run runs Python programs: "
            "run a cell with %%devlint_run, or the script that `jupyter nbconvert --to script` writes"
        )
    if module:
        found = _is_installed(program.partition(".")[0])
    else:
        path = Path(program)
        found = path.is_file() or (path / "__main__.py").is_file()
    if not found:
        raise CannotRun(f"there is no {'module' if module else 'program'} {program}")


def _is_installed(module: str) -> bool:
    """Return whether there is a module of this name, in the current directory or where Python looks for modules."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        return False
    finally:
        del sys.path[0]


def _needs_torch() -> CannotRun:
    """Return the error that says how to install torch for `devlint run`."""
    return CannotRun(f"devlint run needs torch: {install_command('runtime')}")


def _linter(config: Path | None, directory: Path, isolated: bool, chosen: Options) -> ConfiguredLinter:
    """Return the linter that analyses a program's files, after checking that its configuration can be used.

    `chosen` are the rules that the command line chooses. Raises UsageError, before the program runs, if they or the
    configuration for `directory` cannot be used.
    """
    # Imported here because they import the rules, which `devlint run --no-lint` starts faster without.
    from devlint.config.config_error import ConfigError
    from devlint.runtime.configured_linter import ConfiguredLinter

    try:
        linter = ConfiguredLinter(config, isolated=isolated, given=chosen)
        linter.validate_settings(directory)
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from None
    return linter
