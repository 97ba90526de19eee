"""The functions and methods of an application that nothing in its project calls, found by their names in its texts.

An application is a program of several files, one of which runs as a script. Its project is the folder around the files,
with notebooks, settings and documents: who is named in none of them is called by nobody. Nothing is claimed of what an
installed package offers, nor of what a library may call by its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Statement

_PROJECT_FILES: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""The entries by which a folder is known for that of a project."""
_PACKAGE_FILES: Final = ("pyproject.toml", "setup.py", "setup.cfg")
"""The files that make the packages beside them installable."""
_SUFFIXES: Final = frozenset(
    ".py .pyi .pyx .ipynb .yaml .yml .json .toml .cfg .ini .sh .bat .md .rst .txt .gin .jsonnet".split()
)
"""The suffixes of the files that may name a function."""
_MAX_FILES: Final = 20_000
_MAX_SIZE: Final = 30_000_000
"""The number of files of all kinds, and of bytes of text, from which on a project is taken to name everything."""
_OTHERS_CODE: Final = frozenset({"node_modules", "site-packages", "venv", "__pycache__"})
"""The names of folders in a project whose files are not the project's own."""

_MAIN_GUARD: Final = re.compile(r"^if\s+__name__\s*==", re.MULTILINE)
_COMPUTED_NAME: Final = re.compile(
    r"(?<![\w.])(?:getattr\((?![^()]*,\s*[\"']\w+[\"']\s*[,)])|(?:globals|locals|vars|eval|exec)\()|__dict__"
)
_COMPUTED_FUNCTION: Final = re.compile(_COMPUTED_NAME.pattern.replace(r"getattr\(", r"getattr\((?!self\b)"))
"""The ways to reach a method, and a function of a module, by a name that the program computes."""
_METHOD: Final = re.compile(r"^([ \t]+)(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
_PLAIN_BASES: Final = frozenset({"object", "nn.Module", "torch.nn.Module", "Module"})
"""The base classes that call no methods but those of `_CALLED_BY_MODULES`."""
_CALLED_BY_MODULES: Final = frozenset(
    "forward extra_repr reset_parameters train eval to cuda cpu half float double type apply parameters buffers modules"
    " children named_parameters named_buffers named_modules named_children state_dict load_state_dict zero_grad"
    " requires_grad_ share_memory get_extra_state set_extra_state _apply _load_from_state_dict _save_to_state_dict"
    " _call_impl _get_name _named_members _replicate_for_data_parallel".split()
)
"""The methods of modules that torch calls itself."""
_ENTRY_FILES: Final = frozenset({"hubconf", "conftest", "setup"})
"""The names of files whose functions other programs call."""


class _Definition(NamedTuple):
    """A function at module level, or a method of a class there: its name and the rows from the first to the last."""

    module: ModuleInfo
    name: str
    first_row: int
    last_row: int
    is_method: bool = False


class UncalledDefinitions:
    """The answers to the question whether nothing in the project of a program calls the code at a row of a file."""

    def __init__(self, program: Program) -> None:
        self._modules = [one for path in program.given_paths if (one := program.load(path)) is not None]
        self._known: dict[_Definition, bool] = {}

    def name_at(self, module: ModuleInfo, row: int) -> str | None:
        """Return the name of the uncalled function or method around a row; None where the code may be called."""
        definition = _definition_at(module, row) if self._is_application else None
        return definition.name if definition is not None and self._is_uncalled(definition) else None

    @cached_property
    def _is_application(self) -> bool:
        """Whether the program has several files, one of which is a script."""
        return len(self._modules) > 1 and any(_MAIN_GUARD.search(one.source.text) for one in self._modules)

    def _is_uncalled(self, definition: _Definition) -> bool:
        """Return whether nothing calls a definition, except code that nothing calls either."""
        known = self._known.get(definition)
        if known is None:
            self._known[definition] = False  # A circle of callers is called from somewhere.
            known = self._known[definition] = self._may_be_uncalled(definition) and not self._is_named(definition)
        return known

    def _may_be_uncalled(self, definition: _Definition) -> bool:
        """Return whether a definition belongs to the application, and is not reached by a computed name."""
        module = definition.module
        if is_test_file(module.path) or module.path.stem in _ENTRY_FILES or module.source.cells is not None:
            return False
        if _is_installed(module.path) and not is_private_name(definition.name):
            return False
        stem = module.path.parent.name if module.is_package else module.path.stem
        word = re.compile(rf"\b{re.escape(stem)}\b")
        users = [one for one in self._modules if one is module or word.search(one.source.text)]
        if len(users) == 1 and not _MAIN_GUARD.search(module.source.text):
            return False
        computed = _COMPUTED_NAME if definition.is_method else _COMPUTED_FUNCTION
        return not any(computed.search(one.source.text) for one in users)

    def _is_named(self, definition: _Definition) -> bool:
        """Return whether any text of the project names a definition outside of itself and of comment lines."""
        word = re.compile(rf"(?<!def )\b{re.escape(definition.name)}\b")
        if any(self._is_named_in(definition, module, word) for module in self._modules):
            return True
        others = self._other_texts
        return others is None or any(word.search(text) for text in others)

    def _is_named_in(self, definition: _Definition, module: ModuleInfo, word: re.Pattern[str]) -> bool:
        """Return whether a file names a definition in code that may be run; `word` finds the name."""
        text = module.source.text
        for match in word.finditer(text):
            start = text.rfind("\n", 0, match.start()) + 1
            if text[start : match.start()].lstrip().startswith("#"):
                continue
            caller = _definition_at(module, text.count("\n", 0, start) + 1)
            if caller is None or (caller != definition and not self._is_uncalled(caller)):
                return True
        return False

    @cached_property
    def _other_texts(self) -> Sequence[str] | None:
        """The texts of the project besides those of the program; None if there are too many files to read them."""
        given = {one.path for one in self._modules}
        found: list[Path] = []
        size = 0
        for count, path in enumerate(_files_below(_project_folder([*given]))):
            if path.suffix in _SUFFIXES and path not in given and path.is_file():
                found.append(path)
                size += path.stat().st_size
            if count > _MAX_FILES or size > _MAX_SIZE:
                return None
        return [path.read_text(encoding="utf-8", errors="replace") for path in found]


def _definition_at(module: ModuleInfo, row: int) -> _Definition | None:
    """Return the function or the method around a row that only code which names it calls; None for any other code."""
    unit = next((one for one in module.index.statements if one.first_row <= row <= one.last_row), None)
    if unit is None or unit.name is None:
        return None
    if unit.kind == "function":
        decorated = unit.text.startswith("@")
        return None if decorated else _Definition(module, unit.name, unit.first_row, unit.last_row)
    return next((one for one in _methods(module, unit) if one.first_row <= row <= one.last_row), None)


def _methods(module: ModuleInfo, unit: Statement) -> Iterator[_Definition]:
    """Yield the methods of a class that no base class of it calls, and no decorator registers."""
    if unit.kind != "class" or unit.text.startswith("@") or not _PLAIN_BASES.issuperset(unit.bases):
        return
    found = [*_METHOD.finditer(unit.text)]
    inner = min((len(one[1]) for one in found), default=0)
    own = [one for one in found if len(one[1]) == inner]
    rows = [unit.first_row + unit.text.count("\n", 0, one.start()) for one in own]
    for one, row, following in zip(own, rows, [*rows[1:], unit.last_row + 1], strict=True):
        above = unit.text[: one.start()].rstrip().rpartition("\n")[2].lstrip()
        if not (above.startswith("@") or one[2].endswith("__") or one[2] in _CALLED_BY_MODULES):
            yield _Definition(module, one[2], row, following - 1, is_method=True)


def _is_installed(path: Path) -> bool:
    """Return whether a file belongs to a package that other programs can install and import."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    if folder == path.parent:
        return False
    base = folder.parent if folder.name == "src" else folder
    return any((base / name).is_file() for name in _PACKAGE_FILES)


def _project_folder(paths: Sequence[Path]) -> Path:
    """Return the folder of the project of some files: the nearest that looks like one, else their common folder."""
    common = Path(os.path.commonpath([path.parent for path in paths]))
    around = (one for one in (common, *common.parents) if any((one / name).exists() for name in _PROJECT_FILES))
    return next(around, common)


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, except those in hidden folders and in folders of other people's code."""
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".") and one not in _OTHERS_CODE]
        yield from (Path(place, name) for name in names)
