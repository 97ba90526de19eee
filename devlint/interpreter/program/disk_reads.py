"""What one analysis asks the disk besides what the given files hold; the answers are kept.

A later run can ask whether the answers still hold.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_CODE: Final = frozenset({"", ".py", ".pyx", ".so", ".pyd"})
"""The suffixes of folders, and of the files that are modules, compiled ones among them, or become such."""


class DiskReads:
    """The questions of one analysis to the disk, with their answers.

    `are_files` and `exist` have the answers by path, `modules_in` those by folder, `installed` those by the folder of a
    package. `project_texts` is the digest of the texts of the project around the files `in_project`, None where nobody
    asked for them.
    """

    def __init__(self) -> None:
        self.are_files: dict[Path, bool] = {}
        self.exist: dict[Path, bool] = {}
        self.modules_in: dict[Path, frozenset[str]] = {}
        self.installed: dict[Path, bool] = {}
        self.project_texts: str | None = None
        self.in_project: frozenset[Path] = frozenset()

    def is_file(self, path: Path) -> bool:
        """Return whether a path is that of a file."""
        found = self.are_files.get(path)
        if found is None:
            found = self.are_files[path] = path.is_file()
        return found

    def modules(self, folder: Path) -> frozenset[str]:
        """Return the names of the modules that may be found in a folder: of its files of code and of its folders."""
        found = self.modules_in.get(folder)
        if found is None:
            there = [*folder.iterdir()] if folder.is_dir() else []
            names = (path.name.partition(".")[0] for path in there if path.suffix in _CODE)
            found = self.modules_in[folder] = frozenset(name for name in names if name.isidentifier()) - {"__pycache__"}
        return found

    def exists(self, path: Path) -> bool:
        """Return whether there is something at a path."""
        found = self.exist.get(path)
        if found is None:
            found = self.exist[path] = path.exists()
        return found

    def is_installed(self, package: Path) -> bool:
        """Return whether a package lies where an installer has put it."""
        found = self.installed.get(package)
        if found is None:
            found = self.installed[package] = lies_installed(package)
        return found


def lies_installed(package: Path) -> bool:
    """Return whether the record of an installation lies beside the folder of a package and names it.

    For a package in a folder of several distributions, which is no package itself, it lies beside that folder.
    """
    beside, name = package.parent, package.name
    lists = (
        (one, f"{package.relative_to(folder).as_posix()}/__init__.py,")
        for folder in (beside, beside.parent)
        for one in folder.glob("*.dist-info/RECORD")
    )
    tops = ((one, f"{name}\n") for one in beside.glob("*.egg-info/top_level.txt"))
    return any(_has_line(path, start) for path, start in (*lists, *tops))


def _has_line(path: Path, start: str) -> bool:
    """Return whether a line of a file starts with a text."""
    return f"\n{start}" in "\n" + path.read_text(encoding="utf-8", errors="replace") + "\n"
