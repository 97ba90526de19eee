"""The command ``python -m devlint.semantics``, which prints what devlint's semantics tables hold.

It prints how much of torch the tables describe, or what they say of a given library name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from devlint.semantics.cell_sources import SOURCES, source_of
from devlint.semantics.table import Table, load_numpy_table, load_semantics, load_torch_table


@click.group()
def main() -> None:
    """Ask about the tables of operator semantics."""


@main.command()
@click.option("--unknown", is_flag=True, help="List the public callables that the table leaves unknown.")
def coverage(unknown: bool) -> None:
    """Print what the table describes, where its cells come from, and how it agrees with torch."""
    table = load_torch_table()
    figures = table.coverage
    click.echo(f"torch {table.version}")
    for title, count in figures["counts"].items():
        click.echo(f"  {title}: {_share(count) if isinstance(count, list) else count}")
    for source, count in figures["cells"].items():
        click.echo(f"  cells from {source}: {count} ({SOURCES[source]})")
    for title, count in figures["agreement"].items():
        click.echo(f"  agreement on {title}: {_share(count)}")
    for title, count in figures["opinfos"].items():
        click.echo(f"  OpInfos, {title}: {_share(count)}")
    click.echo(f"  unknown: {len(figures['unknown'])}{'' if unknown else ' (--unknown lists them)'}")
    if unknown:
        click.echo("\n".join(f"    {name}" for name in figures["unknown"]))
    arrays = load_numpy_table()
    click.echo(f"NumPy {arrays.version}\n  rows: {len(arrays)}, written by hand and checked against NumPy")


@main.command()
@click.argument("names", nargs=-1, required=True)
def show(names: tuple[str, ...]) -> None:
    """Print the cells of some names, each with where it comes from."""
    tables = {"numpy": load_numpy_table(), "pandas": load_numpy_table()}
    for name in names:
        table = tables.get(name.partition(".")[0]) or load_semantics()
        lines = list(_cells(table, name))
        if not lines:
            raise click.ClickException(f"no table describes {name}")
        click.echo(name if table.canonical(name) == name else f"{name}: {table.canonical(name)}")
        widths = [max(len(line[column]) for line in lines) for column in (0, 1)]
        for cell, value, source in lines:
            click.echo(f"  {cell:{widths[0]}}  {value:{widths[1]}}  {source}".rstrip())


def _cells(table: Table, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield (cell, value, source) for each cell of the semantics-table row that describes a library name.

    The source says how the value was found, for example "probe-cpu" or "hand".
    """
    key = table.canonical(name)
    modelled = table.models.cells(key)
    cells: Mapping[str, Any] = modelled or (table.cells(key) if key in set(table) else {})
    for cell, value in cells.items():
        if cell not in ("provenance", "assumed", "like"):
            shown = value if isinstance(value, str) else json.dumps(value)
            yield cell, shown, "a model" if modelled else source_of(cell, cells) if table.usual else "hand"


def _share(count: list[int]) -> str:
    """Return a pair of part and whole as a text such as "3 of 4 (75.00%)"."""
    part, whole = count
    return f"{part} of {whole} ({part / whole:.2%})"


if __name__ == "__main__":
    main(prog_name="python -m devlint.semantics")
