"""Digests: short texts that differ where contents differ. They are the keys of the cache."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from devlint.version import __version__

_PACKAGE: Final = Path(__file__).resolve().parents[1]
"""The folder of the package `devlint`."""
_NOT_ANALYSIS: Final = frozenset({"runtime", "server", "output", "__pycache__"})
"""The folders of devlint whose code no analysis runs."""


def digest_of_bytes(data: bytes) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: object) -> str:
    """Return the digest of plain data: of numbers, strings, lists and dicts with strings as keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of_file(path: Path) -> str | None:
    """Return the digest of what a file holds; None if the file cannot be read."""
    try:
        return digest_of_bytes(path.read_bytes())
    except (OSError, ValueError):
        return None


@cache
def engine_digest() -> str:
    """Return the digest of what decides, besides the analysed files and the settings, what devlint finds.

    That is the version of devlint, with its tables of what libraries do, and those of Python and libcst, which parse
    the files. In a checkout, where code changes without the version, it is the code too.
    """
    is_checkout = (_PACKAGE.parent / "pyproject.toml").is_file()
    files = sorted({*_files(_PACKAGE, ".json"), *(_sources() if is_checkout else ())})
    contents = [[path.name, digest_of_file(path)] for path in files]
    return digest_of([__version__, sys.version, version("libcst"), contents])


def _sources() -> Iterator[Path]:
    """Yield the files of devlint's own code, with that of the rules, which stand beside the package in a checkout."""
    yield from _files(_PACKAGE, ".py")
    yield from _files(_PACKAGE.parent / "rules", ".py")


def _files(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield the files below a folder that have a suffix, except those that no analysis reads."""
    for path in folder.rglob(f"*{suffix}"):
        if _NOT_ANALYSIS.isdisjoint(path.relative_to(folder).parts):
            yield path
