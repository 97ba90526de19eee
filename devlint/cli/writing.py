"""Writes reports to files and to the standard output."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click


def write_out(pieces: Iterable[str], *, color: bool, beside: bool = False) -> None:
    """Write to the standard output, or `beside` it to the standard error.

    A reader that has seen enough and closed the pipe is no failure.
    """
    stream = sys.stderr if beside else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    try:
        for piece in pieces:
            click.echo(piece, stream, nl=False, color=color)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as problem:
        raise click.ClickException(f"cannot write the report: {problem.strerror}") from None


def write_bytes(data: bytes) -> None:
    """Write a repaired file to the standard output, as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_file(pieces: Iterable[str], path: Path) -> None:
    """Write a file as a whole or not at all."""
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.writelines(pieces)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", dir=path.parent, prefix=path.name, delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.writelines(pieces)
                stream.close()
                temporary.chmod(_usual_mode())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as problem:
        raise click.ClickException(f"cannot write {path}: {problem.strerror}") from None


def _usual_mode() -> int:
    """The mode that a newly made file gets; a temporary one is for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
