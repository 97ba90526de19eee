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

from devlint.runtime.backends import ALL_DEVICES, EMULATED_OPTIONS
from devlint.runtime.device_comparison import ComparisonRequest, Row, as_json, as_table, compare_devices

if TYPE_CHECKING:
    from devlint.runtime.configured_linter import ConfiguredLinter

FORMATS = ("full", "json", "html")
DEVICES = ("auto", *EMULATED_OPTIONS, ALL_DEVICES, "mps", "cuda")
"""The values of `--device`."""
_NEEDS_TORCH = "devlint run needs torch: pip install 'devlint[runtime]'"


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="auto",
    show_default=True,
    help="Where the program runs: auto is cuda where there is one, else emulated, which is an emulated cuda.",
)
@click.option("--devices", type=click.IntRange(1, 64), default=1, show_default=True, help="How many to emulate.")
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Use this configuration file instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Pass over all configuration files.")
@click.option("--no-lint", is_flag=True, help="Record only, without the static findings.")
@click.option("--keep-going", is_flag=True, help="Go on after an error of mixed devices, as if the tensor were moved.")
@click.option("--output-format", type=click.Choice(FORMATS), default="full", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the report there.")
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module, as with python -m.")
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    device: str,
    devices: int,
    config: Path | None,
    isolated: bool,
    no_lint: bool,
    keep_going: bool,
    output_format: str,
    output: Path | None,
    module: bool,
    program: str,
    arguments: tuple[str, ...],
) -> int:
    """Run PROGRAM and report on stderr (or to --output) what was moved, waited for and wrong.

    The exit status is the program's own, or 1 when it ended with 0 and an error was seen to happen.

    With --device emulated:all, run PROGRAM on the CPU and on each emulated accelerator, and report where it runs and
    whether it computes the same. The exit status is 0 if it does everywhere, otherwise 1.
    """
    if device == ALL_DEVICES:
        rows = _compare(ComparisonRequest(program, module, arguments, devices, keep_going), output_format)
        _write(as_json(rows) if output_format == "json" else as_table(rows), output)
        status = int(not all(row.proven for row in rows))
        click.get_current_context().exit(status)
    linter = None if no_lint else _linter(config, Path.cwd() if module else Path(program).absolute().parent, isolated)
    output = output.absolute() if output is not None else None
    gc.enable()  # the command line turns it off, but a program runs with it
    try:
        # Imported here because torch is an optional dependency, and slow to import.
        from devlint.runtime.program_runner import RunRequest, run_program

        status, report = run_program(
            RunRequest(program, module, arguments, device, devices, keep_going=keep_going), linter
        )
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
        raise click.UsageError(_NEEDS_TORCH) from None
    if output_format == "json":
        text = report.json() + "\n"
    elif output_format == "html":
        # Imported here because it imports torch, an optional dependency.
        from devlint.runtime.html_report import render_page

        text = render_page(report)
    else:
        text = "".join(report.full(color=output is None and sys.stderr.isatty()))
    _write(text, output)
    status = status or int(report.failed)
    click.get_current_context().exit(status)
    return status


def _compare(request: ComparisonRequest, output_format: str) -> list[Row]:
    """Return the rows of the comparison of a program on all devices, after printing what it printed on the CPU."""
    if output_format == "html":
        raise click.UsageError(f"--device {ALL_DEVICES} writes a table or JSON")
    if find_spec("torch") is None:
        raise click.UsageError(_NEEDS_TORCH)
    rows = compare_devices(request)
    click.echo(rows[0].run.printed, nl=False)
    return rows


def _write(text: str, output: Path | None) -> None:
    """Write the report to stderr, or to a file if one is named."""
    if output is None:
        click.echo(text, err=True, nl=False)
    else:
        output.write_text(text, encoding="utf-8")


def _linter(config: Path | None, directory: Path, isolated: bool) -> ConfiguredLinter:
    """Return the linter that analyses a program's files, after checking that its configuration can be used.

    Raises UsageError, before the program runs, if the configuration for `directory` cannot be used.
    """
    # Imported here because they import the rules, which `devlint run --no-lint` starts faster without.
    from devlint.config.config_error import ConfigError
    from devlint.runtime.configured_linter import ConfiguredLinter

    try:
        linter = ConfiguredLinter(config, isolated=isolated)
        linter.validate_settings(directory)
    except ConfigError as problem:
        raise click.UsageError(str(problem)) from None
    return linter
