"""Writing of reports to files and to the standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click


def write_stdout(pieces: Iterable[str], *, color: bool, to_stderr: bool = False) -> None:
    """Write text to the standard output, or to the standard error stream if `to_stderr` is set.

    A reader that closes the pipe early causes no error.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    try:
        for piece in pieces:
            click.echo(piece, stream, nl=False, color=color)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes the stream once more when it exits, and would print an error then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as problem:
        raise click.ClickException(f"cannot write the report: {problem.strerror}") from None


def write_stdout_bytes(data: bytes) -> None:
    """Write the bytes of a fixed file to the standard output as they are, without converting line ends or encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_file(pieces: Iterable[str], path: Path) -> None:
    """Write a file completely or not at all.

    Raise ClickException if the file cannot be written.
    """
    # Imported here to keep `devlint rule CODE` fast.
    from tempfile import NamedTemporaryFile

    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.writelines(pieces)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", dir=path.parent, prefix=path.name, delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.writelines(pieces)
                stream.close()
                temporary.chmod(_default_file_mode())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as problem:
        raise click.ClickException(f"cannot write {path}: {problem.strerror}") from None


def _default_file_mode() -> int:
    """Return the permissions that a newly created file gets by default.

    A temporary file has stricter permissions, which must be replaced by these.
    """
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def report_base() -> Path:
    """Return the directory to which file paths are relative in reports for web services such as GitHub.

    This is the root of the repository, or the current directory outside of a repository.
    """
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        if folder := os.environ.get(variable):
            return Path(folder)
    cwd = Path.cwd()
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
