"""Which files are test code: those that pytest collects, `conftest.py`, and what lies in a folder of tests."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from devlint.interpreter.program.private_definitions import is_test_file

_FOLDERS = frozenset({"test", "tests", "unittests"})
"""Names of folders that hold tests and their helpers."""


@lru_cache(None)
def is_test_code(filename: str, root: str) -> bool:
    """Return whether a file is part of tests, by its name or by its folders below the project's root."""
    path, top = Path(filename), Path(root)
    if is_test_file(path) or path.name == "conftest.py":
        return True
    folders = path.relative_to(top).parts[:-1] if path.is_relative_to(top) else path.parts[-2:-1]
    return not _FOLDERS.isdisjoint(folders)
