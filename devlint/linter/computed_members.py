"""Members of files that code may reach by a name that it computes, in whichever file it has found or loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.program.program import Program
from devlint.linter.computed_names import is_in_definition
from devlint.linter.importing_files import import_name
from devlint.linter.uncalled import UncalledDefinitions
from devlint.syntax.index import Binding
from devlint.syntax.tree_walk import descend, dotted_name

_ANY_FILE: Final = re.compile(
    r"(?:(?<![\w.])__import__|\bimport_module)\((?:\s*[rf]*[\"']([\w.]*))?|\bsys\.modules\b(?!\[__name__\])"
)
"""The ways to reach a function of a file whose name the program computes, with the start of that name."""
_LISTS_FILES: Final = re.compile(
    r"\bpkgutil\b|\b(?:listdir|i?glob|iterdir|scandir)\(|\bos\.walk\(|\bsys\.modules\b(?!\[__name__\])"
)
"""The ways to find files without their names."""
_OWN_NAMES: Final = re.compile(r"(?<![\w.])(?:globals|locals)\(|\bsys\.modules\[__name__\]")
"""The ways to reach by such a name what has a name in the same file."""
_RUNS_TEXT: Final = re.compile(r"(?<![\w.])(?<!def )exec\(")
"""A call that runs a text as statements."""
_EVALUATES: Final = re.compile(r"(?<![\w.])(?<!def )eval\(")
"""A call that runs a text as an expression."""
_MEMBER: Final = re.compile(
    r"(?<![\w.])(?:getattr\((?![^()]*,\s*[\"']\w+[\"']\s*[,)])|vars\()\s*(\w+)|\b(\w+)(?:\.\w+)*\.__dict__"
)
"""The ways to reach a member of what has a name, by a name that the program computes."""


class ComputedMembers:
    """The answers to the question whether a file may name what another one defines by a name that it computes."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled
        self._quoted: dict[str, bool] = {}

    def may_be_reached(self, user: ModuleInfo, home: ModuleInfo, *, is_class: bool) -> bool:
        """Return whether a file may name a function or class of another file, or its own, in such a way."""
        text = user.source.text
        if self._loads(user, home):
            return True
        runs_text = _RUNS_TEXT.search(text) is not None or self._evaluates(user, is_class=is_class)
        reaches_own = runs_text or any(
            found[0] != "locals(" or not is_in_definition(user, found.start()) for found in _OWN_NAMES.finditer(text)
        )
        if reaches_own and user is home:
            return True
        imports = [one for unit in user.index.statements for one in unit.imports]
        # A text that is run seldom spells out a path through several packages. A name has no dots.
        nearest = [home.path, home.path.parent / "__init__.py"]
        own = [one for one in imports if runs_text or (reaches_own and one.attribute == "*")]
        if any(self.whole_file(user, one) in nearest for one in own):
            return True
        roots = {one for match in _MEMBER.finditer(text) for one in match.groups() if one is not None}
        paths = [self.whole_file(user, one) for one in imports if one.name in roots]
        return any(path is not None and path in _files_around(home) for path in paths)

    def whole_file(self, user: ModuleInfo, one: Binding) -> Path | None:
        """Return the file that an import takes whole, or from which it takes all names; None for a single name."""
        dotted = f"{one.module}.{one.attribute}" if one.attribute not in (None, "*") else one.loads or one.module
        return self._program.resolve(user, dotted.strip("."), one.level)

    def _loads(self, user: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a file may load another one by a name that it computes.

        The start of the name may be written out. What is computed whole names no file that others import by its name,
        unless a text has that name, or the files are listed.
        """
        starts = [match[1] for match in _ANY_FILE.finditer(user.source.text)]
        if any(start.startswith(".") for start in starts if start) and user.path.parent in home.path.parents:
            return True
        if any(_has_parts(home.path, start.strip(".").split(".")) for start in starts if start):
            return True
        if all(starts):
            return False
        if _LISTS_FILES.search(user.source.text) or not self._is_imported_by_others(user, home):
            return True
        name = import_name(home)
        if name not in self._quoted:
            self._quoted[name] = self._is_quoted(name)
        return self._quoted[name]

    def _is_quoted(self, name: str) -> bool:
        """Return whether a text in the code, or another text of the project, has the name of a file."""
        quoted = re.compile(rf"[\"'](?:[\w.]+[.:/])?{re.escape(name)}[\"'.:]")
        in_code = any(name in one.source.text and quoted.search(one.source.text) for one in self._uncalled.modules)
        return in_code or self._uncalled.is_named_elsewhere(name)

    def _is_imported_by_others(self, user: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a file that is no package imports a file, besides the one that computes names."""
        return any(one not in (user, home) and not one.is_package for one in self._uncalled.importing.of_file(home))

    def _evaluates(self, user: ModuleInfo, *, is_class: bool) -> bool:
        """Return whether a file runs a text that may name what it defines; no library is handed a class that way."""
        if not _EVALUATES.search(user.source.text):
            return False
        if not is_class:
            return True
        return not all(
            self._is_handed_to_library(user, path)
            for unit in user.index.statements
            if "eval" in unit.mentions
            for path in _evaluations(unit.tree_or_none)
        )

    def _is_handed_to_library(self, user: ModuleInfo, path: list[cst.CSTNode]) -> bool:
        """Return whether the value of a call, the last node of a path, is an argument of a call of a library."""
        match path[:-1]:
            case [*_, cst.Call(func=called), cst.Arg()]:
                root = (dotted_name(called) or "").partition(".")[0]
                found = [one for unit in user.index.statements for one in unit.imports if one.name == root]
                return bool(found) and all(self._program.resolve(user, one.module, one.level) is None for one in found)
        return False


def _evaluations(tree: cst.CSTNode | None) -> Iterator[list[cst.CSTNode]]:
    """Yield the paths to the calls of `eval` in a statement; an empty one where it cannot be parsed."""
    if tree is None:
        yield []
        return
    for one in descend(tree):
        match one:
            case cst.Call(func=cst.Name(value="eval")):
                yield path_to(tree, one)


def _has_parts(path: Path, parts: list[str]) -> bool:
    """Return whether the parts of a dotted name stand beside each other in the path of a file."""
    whole = path.with_suffix("").parts
    return any(list(whole[i : i + len(parts)]) == parts for i in range(len(whole)))


def _files_around(home: ModuleInfo) -> Collection[Path]:
    """Return a file, and the files of the packages around it, through which its members can be reached."""
    return [home.path, *(folder / "__init__.py" for folder in home.path.parents)]
