"""Writes ``devlint/semantics/torch.json`` from the installed torch; ``compare`` lists where the two disagree."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import click
import torch

from devlint.runtime import emulate
from devlint.runtime.derive import agreement, assemble, coverage, modules, names
from devlint.runtime.derive.overlay import overlay
from devlint.semantics.table import Table, load_table

TARGET = Path(__file__).parents[2] / "semantics" / "torch.json"


def derive() -> dict[str, Any]:
    """The whole data file."""
    rows = assemble.rows_of()
    data: dict[str, Any] = {
        "version": torch.__version__.split("+")[0],
        "argument_aliases": overlay()["argument_aliases"],
        "aliases": names.aliases() | modules.aliases() | overlay()["aliases"],
        "rows": rows,
    }
    table = Table(data)
    with emulate():
        flips = agreement.device_flips(table)
    dtypes = agreement.result_dtypes(table)
    figures = coverage.summary(rows)
    figures["agreement"] = {
        "device flips, emulated": [flips.probes - len(flips.misses), flips.probes],
        "result dtypes, CPU": [dtypes.probes - len(dtypes.misses), dtypes.probes],
    }
    return {**data, "coverage": figures}


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Derive the table of operator semantics from the installed torch, and write it."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.getLogger("torch._subclasses").setLevel(logging.CRITICAL)
    if context.invoked_subcommand is None:
        TARGET.write_text(assemble.render(derive()))


@main.command()
def compare() -> None:
    """Print every probe in which the table disagrees with the emulated device, the CPU, or FakeTensor."""
    table = load_table()
    with emulate():
        flips = agreement.device_flips(table)
    for title, tally in (
        ("device flips, emulated", flips),
        ("result dtypes, CPU", agreement.result_dtypes(table)),
        ("device flips, second opinion (FakeTensor)", agreement.second_opinion(table)),
    ):
        click.echo(f"{title}: {tally.probes - len(tally.misses)} of {tally.probes} agree ({tally.share:.2%})")
        for miss in tally.misses:
            click.echo(f"  {miss}")
        if tally.gaps:
            click.echo(f"  {tally.gaps} more in operators that are known to be judged otherwise")


if __name__ == "__main__":
    main(prog_name="python -m devlint.runtime.derive")
