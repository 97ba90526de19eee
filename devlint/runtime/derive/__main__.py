"""The command ``python -m devlint.runtime.derive``: write ``devlint/semantics/torch.json`` or compare it with torch."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
import torch

from devlint.runtime.derive import agreement, coverage, module_rows, opinfo_comparison, public_names, row_assembly
from devlint.runtime.derive.overlay import overlay
from devlint.runtime.derive.probe_device import REAL, probe_accelerator
from devlint.semantics.cell_sources import USUAL_SOURCES
from devlint.semantics.table import Table, load_torch_table

TARGET = Path(__file__).parents[2] / "semantics" / "torch.json"
"""The data file that is written."""


def derive(patterns: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the whole data file; with name patterns, only the rows of matching names are derived anew."""
    rows = _rows_matching(patterns) if patterns else row_assembly.derive_rows()
    data: dict[str, Any] = {
        "version": torch.__version__.split("+")[0],
        "usual": USUAL_SOURCES,
        "argument_aliases": overlay()["argument_aliases"],
        "aliases": public_names.aliases() | module_rows.aliases() | overlay()["aliases"],
        "rows": rows,
    }
    figures = coverage.summary(rows) | (_committed_figures() if patterns else _measured_figures(Table(data)))
    return {**data, "coverage": figures}


def _rows_matching(patterns: tuple[str, ...]) -> dict[str, Any]:
    """Return the committed rows, with those of matching names derived anew.

    In-place functions are derived through the methods of the same name.
    """
    table = load_torch_table()

    def chosen(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    found = row_assembly.derive_rows(lambda name: chosen(name) or chosen(f"torch.{name.removeprefix('torch.Tensor.')}"))
    kept = {name: dict(table.cells(name)) for name in table if not chosen(name)}
    return dict(sorted((kept | {name: row for name, row in found.items() if chosen(name)}).items()))


def _committed_figures() -> dict[str, Any]:
    """Return the figures of the committed table on its agreement with torch."""
    figures = load_torch_table().coverage
    return {title: figures[title] for title in ("agreement", "opinfos")}


def _measured_figures(table: Table) -> dict[str, Any]:
    """Return figures on the agreement of a table with torch, measured now."""
    found = {title: [tally.probes - len(tally.misses), tally.probes] for title, tally in table_comparisons(table)}
    with probe_accelerator():
        return {"agreement": found, "opinfos": opinfo_comparison.compare_opinfos(table).figures()}


def table_comparisons(table: Table) -> Iterator[tuple[str, agreement.Tally]]:
    """Yield comparisons of the table with torch: on the CPU, and on the accelerator that is there.

    A real accelerator allows more comparisons than an emulated one.
    """
    with probe_accelerator() as source:
        yield f"device flips, {source}", agreement.compare_device_flips(table)
    yield "result dtypes, CPU", agreement.compare_result_dtypes(table)
    if source == REAL:
        yield "result dtypes, gpu", agreement.compare_result_dtypes(table, device="cuda")
        yield "waits, gpu", agreement.compare_waits(table)


@click.group(invoke_without_command=True)
@click.option("--only", "patterns", multiple=True, help="Derive the rows of these names anew, as in 'torch.linalg.*'.")
@click.pass_context
def main(context: click.Context, patterns: tuple[str, ...]) -> None:
    """Derive the table of operator semantics from the installed torch, and write it."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.getLogger("torch._subclasses").setLevel(logging.CRITICAL)
    if context.invoked_subcommand is None:
        TARGET.write_text(row_assembly.format_table(derive(patterns)))


@main.command()
def compare() -> None:
    """Print every probe in which the table disagrees with the CPU, FakeTensor or the accelerator, a real one if any."""
    table = load_torch_table()
    for title, tally in (
        *table_comparisons(table),
        ("device flips, FakeTensor", agreement.compare_with_fake_tensors(table)),
    ):
        click.echo(f"{title}: {tally.probes - len(tally.misses)} of {tally.probes} agree ({tally.share:.2%})")
        for miss in tally.misses:
            click.echo(f"  {miss}")


@main.command()
@click.argument("titles", nargs=-1)
def opinfo(titles: tuple[str, ...]) -> None:
    """Compare the table with torch's OpInfo entries, all or those named, on samples it was not derived from."""
    with probe_accelerator():
        found = opinfo_comparison.compare_opinfos(load_torch_table(), lambda title: not titles or title in titles)
    for question, (right, asked) in found.figures().items():
        click.echo(f"{question}: {right} of {asked} ({right / max(asked, 1):.2%})")
        for miss in found.misses(question):
            click.echo(f"  {miss}")


if __name__ == "__main__":
    main(prog_name="python -m devlint.runtime.derive")
