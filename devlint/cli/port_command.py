"""The command `devlint port`: its options."""

from __future__ import annotations

from pathlib import Path

import click

from devlint.cli.option_values import parse_jobs, parse_min_torch
from devlint.semantics.accelerators import Version


@click.command(
    short_help="Move programs from CUDA to any accelerator.", context_settings={"auto_envvar_prefix": "DEVLINT"}
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[PATH]...")
@click.option("--diff", is_flag=True, help="Show the changes, and write nothing.")
@click.option(
    "--min-torch",
    callback=parse_min_torch,
    metavar="VERSION",
    help="The oldest torch to support: what came later is not used.  [default: by the project's dependencies]",
)
@click.option(
    "--device",
    "device_name",
    default="device",
    metavar="NAME",
    help="The name of the device to make where a file has none.",
    show_default=True,
)
@click.option("--show-ported", is_flag=True, help="List what was ported, too.")
@click.option("--no-check", is_flag=True, help="Do not analyse the ported files for new findings.")
@click.option("-j", "--jobs", metavar="N", default="auto", callback=parse_jobs, help="The number of processes at most.")
def port(
    paths: tuple[Path, ...],
    diff: bool,
    min_torch: Version | None,
    device_name: str,
    show_ported: bool,
    no_check: bool,
    jobs: int,
) -> int:
    """Move programs from CUDA to any accelerator, and say what is left.

    Exit status: 0 nothing is left for a human, 1 something is, 2 devlint could not do its work.
    """
    if not device_name.isidentifier():
        raise click.BadParameter(f"{device_name!r} is no name of a variable", param_hint="--device")
    # Imported here since a port needs libcst, and `--help` must be fast.
    from devlint.cli.port_run import run_port

    return run_port(
        paths,
        diff=diff,
        min_torch=min_torch,
        device_name=device_name,
        show_ported=show_ported,
        checked=not no_check,
        jobs=jobs,
    )
