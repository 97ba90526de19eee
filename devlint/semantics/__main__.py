"""``python -m devlint.semantics coverage``: how much of torch the table describes, and how well the two agree."""

from __future__ import annotations

import click

from devlint.semantics.table import load_numpy_table, load_table


@click.group()
def main() -> None:
    """Ask about the tables of operator semantics."""


@main.command()
@click.option("--unknown", is_flag=True, help="List the public callables that the table leaves unknown.")
def coverage(unknown: bool) -> None:
    """Print what the table describes, what is written by hand, and how it agrees with torch."""
    table = load_table()
    figures = table.coverage
    click.echo(f"torch {table.version}")
    for title, count in figures["counts"].items():
        click.echo(f"  {title}: {_share(count) if isinstance(count, list) else count}")
    for title, count in figures["agreement"].items():
        click.echo(f"  agreement on {title}: {_share(count)}")
    click.echo(f"  unknown: {len(figures['unknown'])}{'' if unknown else ' (--unknown lists them)'}")
    if unknown:
        click.echo("\n".join(f"    {name}" for name in figures["unknown"]))
    arrays = load_numpy_table()
    click.echo(f"NumPy {arrays.version}\n  rows: {len(arrays)}")


def _share(count: list[int]) -> str:
    part, whole = count
    return f"{part} of {whole} ({part / whole:.2%})"


if __name__ == "__main__":
    main(prog_name="python -m devlint.semantics")
