"""The functions, methods and classes of an application that nothing in its project uses, found by their names.

An application is a program of several files, one of which runs as a script. Its project is the folder around the files,
with notebooks, settings and documents: who is named in none of them is called by nobody. Nothing is claimed of what an
installed package offers, nor of what a library may call by its name. The methods that torch calls, such as `forward`,
are called where something names their class. A run over some files of a project reads the others for this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.method_texts import methods_in
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.interpreter.program.program import Program
from devlint.linter.computed_names import computes_names
from devlint.linter.importing_files import ImportingFiles, import_name
from devlint.linter.project_texts import (
    FilesBelow,
    is_installed,
    is_prose,
    no_files,
    project_folder,
    project_texts,
    texts_digest,
)
from devlint.linter.quiet_bases import PLAIN_BASES, call_no_private_methods, has_quiet_bases
from devlint.linter.reached_files import ENTRY_FILES, MAIN_GUARD, RUNS_NOTHING, ReachedFiles, does_work
from devlint.syntax.index import Statement
from devlint.syntax.text_words import has_word

_CLASS_LIST: Final = re.compile(r"__subclasses__|\bgetmembers\b")
"""The ways to find a class by its base, or by the file that it is in."""
_TARGET: Final = "_target_"
"""The key of settings under which hydra finds the name of what it builds."""
_COMPUTED_TARGET: Final = re.compile(r"_target_[\"']?\s*[:=][^\n]*\$\{")
"""A setting of what to build that is put together from other settings."""
_CODED_TARGET: Final = re.compile(r"_target_[\"']?\]?\s*(?::\s*\w+\s*=|[:=])(?!=)(?!\s*[\"'][\w.]*[\"']\s*[,)}\]\n])")
"""A name of what to build that code computes."""
_TEST_NAME: Final = re.compile(r"test_|Test")
"""The start of the name of a test, or of a class of tests."""
_FOR_READERS: Final = frozenset("example examples demo demos doc docs tutorial tutorials benchmark benchmarks".split())
"""The names of folders with scripts that show how to use a package."""
_CALLED_BY_MODULES: Final = frozenset(
    "forward extra_repr reset_parameters train eval to cuda cpu half float double type apply parameters buffers modules"
    " children named_parameters named_buffers named_modules named_children state_dict load_state_dict zero_grad"
    " requires_grad_ share_memory get_extra_state set_extra_state _apply _load_from_state_dict _save_to_state_dict"
    " _call_impl _get_name _named_members _replicate_for_data_parallel".split()
)
"""The methods of modules that torch calls itself."""


class Definition(NamedTuple):
    """A function or class at module level, or a method of such a class: its name, its first row and its last row."""

    module: ModuleInfo
    name: str
    first_row: int
    last_row: int
    is_method: bool = False
    is_class: bool = False


class UncalledDefinitions:
    """The answers to the question whether nothing in the project of a program calls the code at a row of a file."""

    def __init__(self, program: Program, files_below: FilesBelow = no_files) -> None:
        self._program = program
        self._disk = program.disk
        self._files_below = files_below
        self._known: dict[Definition, bool] = {}

    @cached_property
    def modules(self) -> Sequence[ModuleInfo]:
        """The files of the project: the given ones, and the others that a run over the whole project is given."""
        given = self._program.given_paths
        found = self._files_below(project_folder(given, self._disk)) if given else ()
        others = sorted({path.resolve() for path in found} - {*given})
        self._program.set_aside(others)
        return [one for path in (*given, *others) if (one := self._program.load(path)) is not None]

    @cached_property
    def importing(self) -> ImportingFiles:
        """The imports between the files of the project."""
        return ImportingFiles(self._program, self.modules)

    @cached_property
    def _files(self) -> ReachedFiles:
        """The files of the project that a run of it gets to."""
        return ReachedFiles(
            self._program,
            self.modules,
            self.importing,
            self._is_file_named,
            self._is_word,
            self._settings_are_known,
        )

    def name_at(self, module: ModuleInfo, row: int) -> str | None:
        """Return the name of the uncalled function, method or class around a row; None where the code may be called."""
        is_run = self._files.is_reached if self.is_application else self._files.can_run
        if not is_run(module) or self._files.is_left_over(module):
            unit = module.index.statement_at(row)
            return unit.name if unit is not None else None
        if not self.is_application:
            return None
        around = self.definitions_at(module, row)
        return next((one.name for one in around if self._is_uncalled(one)), None)

    def serves_nothing(self, module: ModuleInfo, row: int) -> bool:
        """Return whether the code at a row is uncalled, or nothing names it and no other file imports its file."""
        around = [*self.definitions_at(module, row)] if self.is_application else []
        unused = bool(around) and self.is_left_over(module) and not any(map(self._is_named, around))
        return unused or any(map(self._is_uncalled, around))

    def cannot_be_imported(self, module: ModuleInfo) -> bool:
        """Return whether a file cannot be imported, because of a name that another file or a library lacks."""
        return self._files.is_broken(module)

    def knows_callers(self, module: ModuleInfo, name: str, *, is_method: bool) -> bool:
        """Return whether only code that names a function or method of the application calls it."""
        return self.is_application and self._may_be_uncalled(Definition(module, name, 0, 0, is_method))

    def is_imported_by_none(self, module: ModuleInfo) -> bool:
        """Return whether a file belongs to the application, and no other file imports it, nor can other programs."""
        if not self.is_application or module.source.cells is not None or module.path.stem in ENTRY_FILES:
            return False
        return len(self.importing.of_file(module)) <= 1 and not is_installed(module.path, self._disk)

    def stands_alone(self, module: ModuleInfo) -> bool:
        """Return whether nobody can import a file: no other file does, and it is in no package that others may use."""
        return self.is_imported_by_none(module) and not self._disk.is_file(module.path.parent / "__init__.py")

    def helps_tests(self, module: ModuleInfo, tests: ModuleInfo) -> bool:
        """Return whether a file is beside a file of tests, or in no package that others install."""
        return module.path.is_relative_to(tests.path.parent) or not is_installed(module.path, self._disk)

    def files_naming(self, module: ModuleInfo, name: str, *, is_method: bool) -> Sequence[ModuleInfo]:
        """Return the files that may mean a function of a file by its name; any file may, for a method."""
        return self.modules if is_method else self.importing.of_function(module, name)

    def is_named_elsewhere(self, name: str, *, is_method: bool = False) -> bool:
        """Return whether a text of the project that is no code of the program has a name, in prose written as code.

        A method is named after a dot, or as a text of its own.
        """
        others = self.other_texts
        if others is None:
            return True
        word = re.compile(rf"[.`\"']{re.escape(name)}\b" if is_method else rf"(?<!def )\b{re.escape(name)}\b")
        as_code = re.compile(rf"(?:[.`]|import\b.*)\b{re.escape(name)}\b|\b{re.escape(name)}[(`]")
        return any(name in text and (as_code if is_prose else word).search(text) for text, is_prose in others)

    @cached_property
    def may_list_classes(self) -> bool:
        """Whether the project may find a class without its name."""
        return any(_CLASS_LIST.search(one.source.text) for one in self.modules)

    @cached_property
    def is_application(self) -> bool:
        """Whether the project has several files, one of which is a script, and no tests that also run by themselves."""
        if len(self.modules) > len(self._program.given_paths) and self.other_texts is None:
            return False
        return len(self.modules) > 1 and any(
            MAIN_GUARD.search(one.source.text) and not _has_tests(one) for one in self.modules
        )

    def _is_uncalled(self, definition: Definition) -> bool:
        """Return whether nothing calls a definition, except code that nothing calls either."""
        known = self._known.get(definition)
        if known is None:
            self._known[definition] = False  # A circle of callers is called from somewhere.
            known = not self._files.is_reached(definition.module) or (
                self._may_be_uncalled(definition) and not self._is_named(definition)
            )
            self._known[definition] = known
        return known

    def _may_be_uncalled(self, definition: Definition) -> bool:
        """Return whether a definition belongs to the application, and is not reached by a computed name."""
        module = definition.module
        if is_test_file(module.path) or module.path.stem in ENTRY_FILES or module.source.cells is not None:
            return False
        if is_installed(module.path, self._disk) and not is_private_name(definition.name):
            return False
        if definition.is_class and self.may_list_classes:
            return False
        users = self._users(definition)
        if len(users) == 1 and not MAIN_GUARD.search(module.source.text):
            return False
        if definition.is_method and is_private_name(definition.name):
            # Whoever computes the name of a method of another object means a public one.
            users = [module]
        return not any(
            computes_names(self._program, one, of_methods=definition.is_method, within=one is module) for one in users
        )

    def is_left_over(self, module: ModuleInfo) -> bool:
        """Return whether no other file imports a file, no text names it, and what it does at its top is its own.

        Either it does nothing there, or no file beside it loads files by computed names, which it might register with.
        Others may import it from an installed package, but not where the package only serves the scripts beside it.
        """
        if not self.is_application or len(self.importing.of_file(module)) > 1:
            return False
        if self.is_named_elsewhere(import_name(module)):
            return False
        if is_installed(module.path, self._disk):
            return self._serves_scripts and not does_work(module) and self._files.is_loaded_by_none_beside(module)
        others = (one for one in module.index.statements if one.kind == "other")
        if all(RUNS_NOTHING.match(one.text) for one in others):
            return True
        if is_test_file(module.path) or module.path.stem in ENTRY_FILES or module.source.cells is not None:
            return False
        return self._files.is_loaded_by_none_beside(module) and not computes_names(
            self._program, module, of_methods=False, within=True
        )

    @cached_property
    def _serves_scripts(self) -> bool:
        """Whether scripts outside of the packages of the project import them, and are neither tests nor examples."""
        folder = project_folder(self._program.given_paths, self._disk)
        return any(
            MAIN_GUARD.search(one.source.text)
            and not is_test_file(one.path)
            and not self._disk.is_file(one.path.parent / "__init__.py")
            and _FOR_READERS.isdisjoint(part.lower() for part in one.path.relative_to(folder).parts[:-1])
            for one in self.modules
            if one.path.is_relative_to(folder) and one.path.stem not in ENTRY_FILES
            if any(is_installed(each.path, self._disk) for each in self.importing.imported_by(one))
        )

    def _users(self, definition: Definition) -> Sequence[ModuleInfo]:
        """Return the files that may use the file of a definition: for a method, those that have the file's name."""
        module = definition.module
        if definition.is_class:
            return self.importing.of_function(module, definition.name)
        if not definition.is_method:
            return self.importing.of_file(module)
        name = import_name(module)
        return [one for one in self.modules if one is module or has_word(one.source.text, name)]

    def _is_named(self, definition: Definition) -> bool:
        """Return whether the project names a definition in code that may be called, or in a text that is no code."""
        return self.is_named_outside(definition, self._is_uncalled)

    def is_named_outside(self, definition: Definition, is_unused: Callable[[Definition], bool]) -> bool:
        """Return whether the project names a definition outside of itself, by an identifier or a text of its own.

        A function is named only in files that import its own. Any file may name a method: objects are passed around.
        `is_unused` tells of which definitions the code does not count.
        """
        home, name = definition.module, definition.name
        files = self.files_naming(home, name, is_method=definition.is_method)
        return any(self._is_named_in(definition, one, is_unused) for one in files) or self.is_named_elsewhere(name)

    def _is_named_in(self, definition: Definition, module: ModuleInfo, is_unused: Callable[[Definition], bool]) -> bool:
        """Return whether a file names a definition in code that may be run."""
        name = re.escape(definition.name)
        word, quoted = re.compile(rf"(?<!def )\b{name}\b"), re.compile(rf"[\"'](?:\w+[.:])*{name}[\"']")
        if not self._files.is_reached(module):
            return False
        # A file set aside has no index yet, and needs none where its text lacks the name.
        for unit in module.index.statements if definition.name in module.source.text else ():
            if unit.kind == "import":
                if self._passes_on(module, unit, definition.name):
                    return True
                continue
            if definition.name not in unit.mentions and not quoted.search(unit.text):
                continue
            if "__all__" in unit.binds:  # Which names `import *` takes says nothing of their use.
                continue
            for match in word.finditer(unit.text):
                start = unit.text.rfind("\n", 0, match.start()) + 1
                before = unit.text[start : match.start()].lstrip()
                if before.startswith("#") or (before == "self." and _is_own_method(definition, module, unit)):
                    continue
                around = [*self.definitions_at(module, unit.first_row + unit.text.count("\n", 0, start))]
                if definition not in around and not any(map(is_unused, around)):
                    return True
        return False

    def _passes_on(self, module: ModuleInfo, unit: Statement, name: str) -> bool:
        """Return whether an import makes a name one of a package that others install, or gives it another name.

        What only imports a name does not use it: the code after it, or other files, would name it again.
        """
        taken = [one for one in unit.imports if name in (one.name, one.attribute)]
        if any(one.name != name for one in taken):
            return True
        return bool(taken) and module.is_package and is_installed(module.path, self._disk)

    def definitions_at(self, module: ModuleInfo, row: int) -> Iterator[Definition]:
        """Yield the definitions around a row that only code which names them calls: a method, then its class."""
        unit = module.index.statement_at(row)
        if unit is None or unit.name is None or unit.starts_with("@"):
            return
        if unit.kind == "function":
            yield Definition(module, unit.name, unit.first_row, unit.last_row)
        if unit.kind == "class" and call_no_private_methods(module, unit):
            is_plain = PLAIN_BASES.issuperset(unit.bases) and has_quiet_bases(self._program, module, unit)
            around = (one for one in _methods(module, unit) if one.first_row <= row <= one.last_row)
            yield from (one for one in around if is_plain or is_private_name(one.name))
        if unit.kind == "class" and has_quiet_bases(self._program, module, unit):
            yield Definition(module, unit.name, unit.first_row, unit.last_row, is_class=True)

    def _is_file_named(self, name: str) -> bool:
        """Return whether a text of the project that is no code of the program names a file, also as `name.py`."""
        if self.is_named_elsewhere(name):
            return True
        return any(f"{name}.py" in text for text, _ in self.other_texts or ())

    def _is_word(self, word: str) -> bool:
        """Return whether a text of the project that is no code of the program has a word, or a script to install it."""
        scripts = (one.source.text for one in self.modules if one.path.stem in ENTRY_FILES)
        texts = self.other_texts
        return texts is None or any(has_word(text, word) for text in (*scripts, *(text for text, _ in texts)))

    def _settings_are_known(self) -> bool:
        """Return whether the project has settings of what to build, and neither they nor its code compute the names."""
        texts = [text for text, is_prose in self.other_texts or () if not is_prose]
        return (
            any(_TARGET in text for text in texts)
            and not any(_TARGET in text and _COMPUTED_TARGET.search(text) for text in texts)
            and not any(_TARGET in one.source.text and _CODED_TARGET.search(one.source.text) for one in self.modules)
        )

    @cached_property
    def other_texts(self) -> Sequence[tuple[str, bool]] | None:
        """The texts of the project besides those of the program, and whether they are prose; None if too many."""
        self._disk.in_project = frozenset(one.path for one in self.modules)
        texts = project_texts(self._disk.in_project, self._disk)
        self._disk.project_texts = texts_digest(texts)
        return None if texts is None else [(text, is_prose(path)) for path, text in texts.items()]


def _has_tests(module: ModuleInfo) -> bool:
    """Return whether a file is one of tests, by its name and by what it defines."""
    return is_test_file(module.path) and any(_TEST_NAME.match(one.name or "") for one in module.index.statements)


def _is_own_method(definition: Definition, module: ModuleInfo, unit: Statement) -> bool:
    """Return whether a class has a method of a name itself, and shares no class with the method's own one."""
    home = definition.module.index.statement_at(definition.first_row) if definition.is_method else None
    if home is None or unit.kind != "class" or (module is definition.module and unit is home):
        return False
    if not (PLAIN_BASES.issuperset(unit.bases) and PLAIN_BASES.issuperset(home.bases)):
        return False
    return any(one.name == definition.name for one in _methods(module, unit))


def _methods(module: ModuleInfo, unit: Statement) -> Iterator[Definition]:
    """Yield the methods of a class with plain base classes that these do not call, and no decorator registers."""
    for name, start, end in methods_in(unit):
        above = unit.text[:start].rstrip().rpartition("\n")[2].lstrip()
        if not (above.startswith("@") or name.endswith("__") or name in _CALLED_BY_MODULES):
            row, last_row = (unit.first_row + unit.text.count("\n", 0, at) for at in (start, end - 1))
            yield Definition(module, name, row, last_row, is_method=True)
