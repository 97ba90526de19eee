"""The store: entries of plain data in files of one folder, each under its key.

No lock is needed, also on network file systems: an entry is written to a temporary file and moved to its place, and of
several writers the last one wins. An entry holds its key and a digest of its content; one that is damaged is taken for
none. Whatever goes wrong with the folder, devlint works without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devlint.version import __version__

FOLDER: Final = ".devlint_cache"
"""The name of the folder at the root of a project."""
_TAG: Final = "CACHEDIR.TAG"
_TAG_TEXT: Final = """\
Signature: 8a477f597d28d172789f06886806bc55
# This file marks a folder of devlint, which may be deleted at any time. See https://bford.info/cachedir/
"""
"""The mark by which programs that make backups know folders that they can leave out."""
_MAGIC: Final = b"devlint-cache-1"
_PRUNED: Final = ".pruned"
"""The file whose time of modification says when the size of the folder was last bounded."""
_TEMPORARY: Final = ".tmp-"
MAX_SIZE: Final = 256 * 1024 * 1024
"""The size in bytes above which entries are removed, those first that were not used for longest."""
_DAY: Final = 24 * 60 * 60
"""The seconds between two looks at the size, and after which the use of an entry is noted again."""


@dataclass(frozen=True, slots=True)
class ProjectCache:
    """The cache of a project, whose folder is `root`: paths in the cache are relative to it."""

    store: Store
    root: Path


class Store:
    """A folder of entries. `problem` says why entries could not be written, None while all went well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problem: str | None = None
        self._entries = folder / __version__
        self._is_ready = False

    def read(self, key: str) -> object:
        """Return the data of the entry with a key (hexadecimal digits); None if there is no sound one."""
        path = self._path(key)
        try:
            head, _, body = path.read_bytes().partition(b"\n")
            if head != _head(key, body):
                return None
            data: object = json.loads(zlib.decompress(body))
        except (OSError, ValueError, zlib.error):
            return None
        with suppress(OSError):  # Of a cache that cannot be written, no use is noted.
            if time.time() - path.stat().st_mtime > _DAY:
                os.utime(path)
        return data

    def has(self, key: str) -> bool:
        """Return whether there is an entry with a key, sound or not."""
        return self._path(key).is_file()

    def write(self, key: str, data: object) -> None:
        """Write plain data under a key, in place of the entry that is there; where that fails, `problem` says why."""
        if self.problem is not None:
            return
        body = zlib.compress(json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode(), 1)
        try:
            self._prepare()
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, _head(key, body) + b"\n" + body)
        except OSError as error:
            self.problem = f"{self.folder}: {error.strerror or error}"

    def _path(self, key: str) -> Path:
        """Return the path of the file for the entry with a key."""
        return self._entries / key[:2] / key[2:]

    def _prepare(self) -> None:
        """Make the folder, marked as a cache, and bound its size if that was not done for a day.

        Raises OSError if the folder cannot be made, or holds something else than a cache.
        """
        if self._is_ready:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        if not is_cache(self.folder):
            if any(not one.name.startswith(_TEMPORARY) for one in self.folder.iterdir()):
                raise OSError("not a cache of devlint, and not empty")
            _replace(self.folder / _TAG, _TAG_TEXT.encode())
            _replace(self.folder / ".gitignore", b"*\n")
            _replace(self.folder / _PRUNED, b"")
        self._is_ready = True
        pruned = self.folder / _PRUNED
        if not pruned.exists() or time.time() - pruned.stat().st_mtime > _DAY:
            _replace(pruned, b"")
            prune(self.folder, MAX_SIZE)


def is_cache(folder: Path) -> bool:
    """Return whether a folder is marked as a cache of devlint."""
    try:
        return (folder / _TAG).read_text(encoding="utf-8", errors="replace") == _TAG_TEXT
    except OSError:
        return False


def prune(folder: Path, limit: int) -> None:
    """Remove the entries of a cache that were not used for longest, down to three quarters of a size in bytes.

    Nothing is removed where they take less than that size. Temporary files that were left go after a day.
    """
    found: list[tuple[float, int, Path]] = []
    for path in _files_below(folder):
        with suppress(OSError):
            known = path.stat()
            if not path.name.startswith(_TEMPORARY):
                found.append((known.st_mtime, known.st_size, path))
            elif time.time() - known.st_mtime > _DAY:
                path.unlink()
    size = sum(one for _, one, _ in found)
    if size <= limit:
        return
    for _, freed, path in sorted(found):
        if size <= limit * 3 // 4:
            return
        size -= freed
        with suppress(OSError):
            path.unlink()


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in the folders of a cache's entries, of all versions of devlint."""
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names if Path(place) != folder or name.startswith(_TEMPORARY))


def _head(key: str, body: bytes) -> bytes:
    """Return the first line of an entry: the format, the key and the digest of the rest."""
    return b" ".join((_MAGIC, key.encode(), hashlib.sha256(body).hexdigest().encode()))


def _replace(path: Path, data: bytes) -> None:
    """Write a file such that whoever reads it sees all of its old content, or all of the new one."""
    temporary = path.with_name(f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
