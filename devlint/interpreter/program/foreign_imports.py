"""Imports of installed packages that name what only another project has, from which their files were copied.

A package may hold files of another project as they are, which import that project's folders by absolute names. From
where the package is installed, Python finds none of these: the files cannot be imported, and nobody runs them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding

_OF_NO_LIBRARY: Final = frozenset(
    "config configs data dataloader dataloaders dataset lib libs losses misc model models modules networks options"
    " tools trainer training util utils".split()
)
"""The names that projects give to their own folders and files, and no library has."""
_CHANGES_SEARCH: Final = re.compile(r"\bsys\.(?:path|modules|meta_path)\b|\baddsitedir\b|\bPYTHONPATH\b")
"""What may make Python find a package's folders by absolute names."""


class ForeignImports:
    """The answers to the question whether an import of an installed package names what only another project has."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._packages: dict[Path, Path | None] = {}
        self._as_installed: dict[Path, bool] = {}
        self._libraries: dict[tuple[Path, str], bool] = {}
        self._answers: dict[tuple[Path, str, str | None], bool] = {}
        """The answers by the folder of the file, and what the import loads and takes from it."""

    def has(self, module: ModuleInfo, binding: Binding) -> bool:
        """Return whether an import of a file names what Python does not find from where its package is installed.

        It must be known to be of no library: it is in a folder above the file in the package, or has a name that no
        library has.
        """
        if binding.level:
            return False
        asked = module.path.parent, binding.loads or binding.module, binding.attribute
        known = self._answers.get(asked)
        if known is None:
            known = self._answers[asked] = self._is_foreign(*asked)
        return known

    def _is_foreign(self, folder: Path, dotted: str, attribute: str | None) -> bool:
        """Return whether an absolute import in the files of a folder names what only another project has."""
        name = dotted.partition(".")[0]
        package = self._package_of(folder) if name else None
        if package is None:
            return False
        if any(name in self._program.module_names_in(one) for one in (package.parent, folder)):
            return False
        above = [one for one in folder.parents if one.is_relative_to(package)]
        holds = any(self._holds(one, name, dotted, attribute) for one in above)
        return (holds or name in _OF_NO_LIBRARY) and self._is_as_installed(package)

    def _holds(self, folder: Path, name: str, dotted: str, attribute: str | None) -> bool:
        """Return whether a folder has the file that an import names, with the attribute that it takes from there.

        Not what stands for a library of the same name, which its own files import then.
        """
        if name not in self._program.module_names_in(folder):
            return False
        if attribute is None and dotted == name:  # It may be a library of that name.
            return False
        beside = folder / "__init__.py"
        home = self._program.resolve_from(beside, dotted, 1)
        other = self._program.load(home) if home is not None else None
        if other is None or self._stands_for_library(folder / name, name):
            return False
        if attribute in (None, "*", *other.index.bound):
            return True
        return self._program.resolve_from(beside, f"{dotted}.{attribute}", 1) is not None

    def _stands_for_library(self, part: Path, name: str) -> bool:
        """Return whether a file, or a file in a folder, imports what its own name means elsewhere."""
        key = part, name
        if key not in self._libraries:
            paths = (one for one in self._program.given_paths if part in (one.with_suffix(""), *one.parents))
            imports = (each for one in paths for each in self._program.text_imports(one))
            self._libraries[key] = any(not one.level and one.package == name for one in imports)
        return self._libraries[key]

    def _package_of(self, folder: Path) -> Path | None:
        """Return the outermost folder of the installed package around a folder; None if there is none."""
        if folder not in self._packages:
            around = [one for one in (folder, *folder.parents) if self._program.disk.is_installed(one)]
            self._packages[folder] = around[-1] if around else None
        return self._packages[folder]

    def _is_as_installed(self, package: Path) -> bool:
        """Return whether no file of a package changes where Python searches for imports."""
        found = self._as_installed.get(package)
        if found is None:
            files = (one for one in self._program.given_paths if one.is_relative_to(package))
            sources = (self._program.source(one) for one in files)
            found = not any(one is not None and _CHANGES_SEARCH.search(one.text) for one in sources)
            self._as_installed[package] = found
        return found
