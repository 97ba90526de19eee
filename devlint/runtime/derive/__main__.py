"""Writes ``devlint/semantics/torch.json`` from the installed torch; ``compare`` lists where the two disagree."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import torch

from devlint.runtime.derive import agreement, assemble, coverage, modules, names
from devlint.runtime.derive.accelerator import REAL, accelerator
from devlint.runtime.derive.overlay import overlay
from devlint.semantics.provenance import USUAL
from devlint.semantics.table import Table, load_table

TARGET = Path(__file__).parents[2] / "semantics" / "torch.json"


def derive() -> dict[str, Any]:
    """The whole data file."""
    rows = assemble.rows_of()
    data: dict[str, Any] = {
        "version": torch.__version__.split("+")[0],
        "usual": USUAL,
        "argument_aliases": overlay()["argument_aliases"],
        "aliases": names.aliases() | modules.aliases() | overlay()["aliases"],
        "rows": rows,
    }
    table = Table(data)
    figures = coverage.summary(rows)
    figures["agreement"] = {
        title: [tally.probes - len(tally.misses), tally.probes] for title, tally in comparisons(table)
    }
    return {**data, "coverage": figures}


def comparisons(table: Table) -> Iterator[tuple[str, agreement.Tally]]:
    """The table beside what happens here: on the CPU, and on the accelerator, of which a real one tells more."""
    with accelerator() as source:
        yield f"device flips, {source}", agreement.device_flips(table, emulated=source != REAL)
    yield "result dtypes, CPU", agreement.result_dtypes(table)
    if source == REAL:
        yield "result dtypes, gpu", agreement.result_dtypes(table, device="cuda")
        yield "waits, gpu", agreement.synchronizations(table)


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
    """Print every probe in which the table disagrees with the CPU, FakeTensor or the accelerator, a real one if any."""
    table = load_table()
    for title, tally in (*comparisons(table), ("device flips, FakeTensor", agreement.second_opinion(table))):
        click.echo(f"{title}: {tally.probes - len(tally.misses)} of {tally.probes} agree ({tally.share:.2%})")
        for miss in tally.misses:
            click.echo(f"  {miss}")
        if tally.gaps:
            click.echo(f"  {tally.gaps} more in operators that are known to be judged otherwise")


if __name__ == "__main__":
    main(prog_name="python -m devlint.runtime.derive")
