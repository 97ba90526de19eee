"""Writes repaired files: whole or not at all, and never over what somebody else has written meanwhile."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


class FileNotWritten(Exception):
    """Why a file was left as it is."""


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content of a file that still is what it was, keeping its mode. Raises NotWritten."""
    # A link stays one: what it leads to is replaced.
    place = Path(os.path.realpath(path))
    try:
        if place.read_bytes() != before:
            raise FileNotWritten("it has changed on disk meanwhile, and is left alone")
        _replace(place, after)
    except OSError as problem:
        raise FileNotWritten(f"it cannot be written: {problem.strerror or problem}") from None


def _replace(place: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        status = place.stat()
        temporary.chmod(status.st_mode & 0o7777)
        with contextlib.suppress(OSError, AttributeError):
            # Only the administrator can keep a foreign owner.
            os.chown(temporary, status.st_uid, status.st_gid)
        if not os.access(place, os.W_OK):
            raise PermissionError(13, "it is read-only")
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
