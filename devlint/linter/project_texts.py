"""The texts of the project around some files: what may name a function besides the files themselves."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from devlint.interpreter.program.disk_reads import DiskReads

FilesBelow: TypeAlias = Callable[[Path], Iterable[Path]]
"""A function from the folder of a project to the files that a run over the whole project is given."""
_PROJECT_FILES: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""The entries by which a folder is known for that of a project."""
_PACKAGE_FILES: Final = ("pyproject.toml", "setup.py", "setup.cfg")
"""The files that make the packages beside them installable."""
_SUFFIXES: Final = frozenset(
    ".py .pyi .pyx .ipynb .yaml .yml .json .toml .cfg .ini .sh .bat .md .rst .txt .gin .jsonnet".split()
)
"""The suffixes of the files that may name a function."""
_PROSE: Final = frozenset({".md", ".rst", ".txt"})
"""The suffixes of documents."""
_MAX_FILES: Final = 20_000
_MAX_SIZE: Final = 30_000_000
"""The number of files of all kinds, and of bytes of text, from which on a project is taken to name everything."""
_OTHERS_CODE: Final = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})
"""The names of folders in a project whose files are not the project's own."""
_COPIED: Final = re.compile(
    r"(?:third|3rd)_?-?party|_?vendor(?:s|ed)?|externals?|external_(?:modules|libs?)", re.IGNORECASE
)
"""The names of folders with copies of other projects, which their own authors change."""

_ENTRY_POINTS: Final = "entry_points.txt"
"""The file by which an installed package lists its commands and plug-ins."""


def no_files(folder: Path) -> Iterable[Path]:
    """Return no files, for a run that does not look at the project around the given ones."""
    return ()


def project_texts(given: Collection[Path], disk: DiskReads) -> Mapping[Path, str] | None:
    """Return the texts of the project of some files besides these; None if there are too many files to read them.

    They include the lists of what installed packages beside the project offer as commands and plug-ins.
    """
    folder = project_folder(given, disk)
    found = [*folder.parent.glob(f"*.dist-info/{_ENTRY_POINTS}")] if disk.is_file(folder / "__init__.py") else []
    size = 0
    for count, path in enumerate(_files_below(folder)):
        if path.suffix in _SUFFIXES and path not in given and path.is_file():
            found.append(path)
            size += path.stat().st_size
        if count > _MAX_FILES or size > _MAX_SIZE:
            return None
    return {path: path.read_text(encoding="utf-8", errors="replace") for path in found}


def is_prose(path: Path) -> bool:
    """Return whether a file is a document, whose words are no names unless they are written as code."""
    return path.suffix in _PROSE and path.name != _ENTRY_POINTS


def texts_digest(texts: Mapping[Path, str] | None) -> str:
    """Return a short text that differs where the texts of a project differ, or are prose, wherever their files lie."""
    if texts is None:
        return "too many"
    each = sorted(
        hashlib.sha256(f"{is_prose(path)}{text}".encode(errors="replace")).digest() for path, text in texts.items()
    )
    return hashlib.sha256(b"".join(each)).hexdigest()


def is_installed(path: Path, disk: DiskReads) -> bool:
    """Return whether a file belongs to a package that other programs can install and import."""
    package, folder = None, path.parent
    while disk.is_file(folder / "__init__.py"):
        # A folder that is itself a package may hold the project file of the packages in it.
        package, folder = folder, folder.parent
        if has_project_file(folder, disk):
            return True
    if package is None:
        return False
    return disk.is_installed(package) or (folder.name == "src" and has_project_file(folder.parent, disk))


def has_project_file(folder: Path, disk: DiskReads) -> bool:
    """Return whether a folder has a file that makes the packages in it installable."""
    return any(disk.is_file(folder / name) for name in _PACKAGE_FILES)


def is_copied(path: Path, given: Collection[Path], disk: DiskReads) -> bool:
    """Return whether a file is of another project, of which the project of some files has a copy in a folder for it."""
    folder = project_folder(given, disk)
    inside = path.relative_to(folder).parts[:-1] if path.is_relative_to(folder) else ()
    return any(_COPIED.fullmatch(one) for one in inside)


def project_folder(paths: Collection[Path], disk: DiskReads) -> Path:
    """Return the folder of the project of some files: the nearest that looks like one, else their common folder."""
    common = Path(os.path.commonpath([path.parent for path in paths]))
    around = (one for one in (common, *common.parents) if any(disk.exists(one / name) for name in _PROJECT_FILES))
    return next(around, common)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, except those in hidden folders and in folders of other people's code."""
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in _OTHERS_CODE]
        yield from (Path(place, name) for name in names)
