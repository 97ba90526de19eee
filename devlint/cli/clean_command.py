"""The command `devlint clean`, which removes caches."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from devlint.cache.store import FOLDER, is_cache
from devlint.cli import terminal
from devlint.cli.exit_status import CLEAN, FAILED


@click.command(
    short_help="Remove the caches in a directory and below it.", context_settings={"auto_envvar_prefix": "DEVLINT"}
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="[PATH]...")
@click.option(
    "--cache-dir", type=click.Path(path_type=Path, file_okay=False), help="Also remove the cache in this folder."
)
def clean(paths: tuple[Path, ...], cache_dir: Path | None) -> int:
    """Remove the caches in the current directory and below it, or in other directories and below them."""
    found = [one for path in paths or (Path(),) for one in _caches_below(path)]
    if cache_dir is not None and is_cache(cache_dir):
        found.append(cache_dir)
    status = CLEAN
    for folder in dict.fromkeys(found):
        try:
            shutil.rmtree(folder)
        except OSError as problem:
            terminal.error(f"{folder}: {problem.strerror}")
            status = FAILED
        else:
            click.echo(f"removed {folder}")
    if not found:
        click.echo("no cache found")
    return status


def _caches_below(folder: Path) -> Iterator[Path]:
    """Yield the caches of devlint in a folder and below it; a folder is one only if it is marked as one."""
    for place, inner, _ in os.walk(folder):
        if FOLDER in inner and is_cache(Path(place, FOLDER)):
            yield Path(place, FOLDER)
        inner[:] = [one for one in inner if one not in (".git", FOLDER)]
