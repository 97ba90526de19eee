"""The command ``python -m devlint.runtime.derive``: derive devlint's semantics table of torch, or check it.

The table is the data file ``devlint/semantics/torch.json``. To derive it, or to check it, the command makes small calls
of torch's functions.
"""

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
    """Return the new content of the data file ``devlint/semantics/torch.json``.

    With name patterns such as ``torch.linalg.*``, only the rows of matching names are derived anew. All other rows are
    taken from the present file.
    """
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
    """Return the rows of the committed semantics table, with the rows of all names that match a pattern derived anew.

    The row of an in-place function, such as ``torch.relu_``, is a copy of the row of the ``Tensor`` method of that
    name. The method is therefore derived too.
    """
    table = load_torch_table()

    def chosen(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    found = row_assembly.derive_rows(lambda name: chosen(name) or chosen(f"torch.{name.removeprefix('torch.Tensor.')}"))
    kept = {name: dict(table.cells(name)) for name in table if not chosen(name)}
    return dict(sorted((kept | {name: row for name, row in found.items() if chosen(name)}).items()))


def _committed_figures() -> dict[str, Any]:
    """Return the stored counts of probe calls in which torch behaves as the committed semantics table says.

    The counts are the entries "agreement" and "opinfos" in the section "coverage" of ``devlint/semantics/torch.json``.
    """
    figures = load_torch_table().coverage
    return {title: figures[title] for title in ("agreement", "opinfos")}


def _measured_figures(table: Table) -> dict[str, Any]:
    """Make probe calls of torch's functions now, and return how many behave as the given semantics table says.

    The result has the two entries "agreement" and "opinfos" of the section "coverage" of the data file.
    """
    found = {title: [tally.probes - len(tally.misses), tally.probes] for title, tally in table_comparisons(table)}
    with probe_accelerator():
        return {"agreement": found, "opinfos": opinfo_comparison.compare_opinfos(table).figures()}


def table_comparisons(table: Table) -> Iterator[tuple[str, agreement.Tally]]:
    """Yield comparisons of the semantics table with torch's behaviour, each as a title and a tally of agreements.

    Result dtypes are compared on the CPU. Accepted operand devices are compared on an accelerator: a CUDA device if
    there is one, else an emulated one. On a CUDA device, result dtypes and waits for the device are compared as well.
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
