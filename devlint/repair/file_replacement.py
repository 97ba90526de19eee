"""Atomic replacement of repaired files on the disk, which never overwrites a change that somebody else has made."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


class FileNotWritten(Exception):
    """An error that says why a file on the disk was not replaced by its repaired content."""


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of a file by `after` if it still is `before`; the file's permissions are kept.

    Raise FileNotWritten if the file has changed or cannot be written.
    """
    # A symbolic link stays a link: the file it points to is replaced.
    place = Path(os.path.realpath(path))
    try:
        if place.read_bytes() != before:
            raise FileNotWritten("it has changed on disk meanwhile, and is left alone")
        _replace(place, after)
    except OSError as problem:
        raise FileNotWritten(f"it cannot be written: {problem.strerror or problem}") from None


def _replace(place: Path, content: bytes) -> None:
    """Write content to a temporary file and move that file to the path `place`."""
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        status = place.stat()
        temporary.chmod(status.st_mode & 0o7777)
        with contextlib.suppress(OSError, AttributeError):
            # Only an administrator can keep the owner of somebody else's file.
            os.chown(temporary, status.st_uid, status.st_gid)
        if not os.access(place, os.W_OK):
            raise PermissionError(13, "it is read-only")
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
