"""What one analysis asks the disk besides what the given files hold; the answers are kept.

A later run can ask whether the answers still hold.
"""

from __future__ import annotations

from pathlib import Path


class DiskReads:
    """The questions of one analysis to the disk, with their answers.

    `are_files` and `exist` have the answers by path, `modules_in` those by folder. `project_texts` is the digest of the
    texts of the project around the files `in_project`, None where nobody asked for them.
    """

    def __init__(self) -> None:
        self.are_files: dict[Path, bool] = {}
        self.exist: dict[Path, bool] = {}
        self.modules_in: dict[Path, frozenset[str]] = {}
        self.project_texts: str | None = None
        self.in_project: frozenset[Path] = frozenset()

    def is_file(self, path: Path) -> bool:
        """Return whether a path is that of a file."""
        found = self.are_files.get(path)
        if found is None:
            found = self.are_files[path] = path.is_file()
        return found

    def modules(self, folder: Path) -> frozenset[str]:
        """Return the names of the modules that may be found in a folder: of its Python files and of its folders."""
        found = self.modules_in.get(folder)
        if found is None:
            there = [*folder.iterdir()] if folder.is_dir() else []
            names = (path.name.removesuffix(".py") for path in there if path.suffix in ("", ".py"))
            found = self.modules_in[folder] = frozenset(name for name in names if name.isidentifier()) - {"__pycache__"}
        return found

    def exists(self, path: Path) -> bool:
        """Return whether there is something at a path."""
        found = self.exist.get(path)
        if found is None:
            found = self.exist[path] = path.exists()
        return found
