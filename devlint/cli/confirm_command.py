"""The command `devlint confirm`: its options."""

from __future__ import annotations

from pathlib import Path

import click

from devlint.cli.option_values import chosen_rules, rule_options
from devlint.runtime.backends import EMULATED_OPTIONS

DEVICES = (*EMULATED_OPTIONS, "cuda")
"""The values of `--device`."""


@click.command(
    short_help="Run the code that findings are about: is it so?", context_settings={"auto_envvar_prefix": "DEVLINT"}
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[PATH]...")
@click.option(
    "--device",
    type=click.Choice(DEVICES),
    default="emulated",
    show_default=True,
    help="Where the drivers run: an emulated accelerator, or the real CUDA device.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="The time for the search of one function's arguments, and for each run of a driver.",
)
@click.option(
    "--memory",
    type=click.IntRange(256),
    default=8192,
    show_default=True,
    metavar="MEGABYTES",
    help="The memory that a process of drivers may take.",
)
@click.option(
    "--drivers",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the drivers to this folder, a file for each.",
)
@click.option(
    "--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The report's form."
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Use this configuration file instead of the nearest one.",
)
@click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
@rule_options
@click.option("-v", "--verbose", is_flag=True, help="Say what is about to be run, with the whole driver.")
def confirm(
    paths: tuple[Path, ...],
    device: str,
    timeout: float,
    memory: int,
    drivers: Path | None,
    output_format: str,
    config: Path | None,
    isolated: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_select: tuple[str, ...],
    verbose: bool,
) -> int:
    """Run the code that findings are about, and say of each finding whether it is so.

    This EXECUTES code of the project: imports, constructors and functions, in processes with limits and in a copy of
    the project. Findings of DEV101 to DEV106 are judged: confirmed, refuted, not reached or not buildable.

    Exit status: 0 nothing was confirmed, 1 something was, 2 devlint could not do its work.
    """
    # Imported here since an analysis needs libcst, and `--help` must be fast.
    from devlint.cli.confirm_run import ConfirmRequest, run_confirm

    request = ConfirmRequest(
        paths=paths,
        device=device,
        timeout=timeout,
        memory=memory,
        drivers=drivers,
        as_json=output_format == "json",
        config=config,
        isolated=isolated,
        rules=chosen_rules(select, ignore, extend_select),
        verbose=verbose,
    )
    return run_confirm(request)
