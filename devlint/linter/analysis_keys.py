"""The keys of results: digests of everything that the analysis of a given file may read.

The key of a file's result is made of its own text, and of the statements of other files to which names lead from
there, directly or through other statements. A new definition, a change of one or a new module changes the keys of those
files only whose analysis may see it. Comments and blank lines in other files change no key, and neither does code that
nothing leads to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from devlint.cache.digests import digest_of
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.registering_files import MAX_REGISTERED
from devlint.interpreter.state.program_facts import ProgramFacts
from devlint.linter.file_facts import FileFacts
from devlint.syntax.index import Binding, Statement


@dataclass(frozen=True, slots=True)
class _File:
    """What runs where a file is imported, and what is known of the file as a whole."""

    module: ModuleInfo


@dataclass(frozen=True, slots=True)
class _Import:
    """One name that a file imports."""

    module: ModuleInfo
    binding: Binding


@dataclass(frozen=True, slots=True)
class _Star:
    """All names of a file, which another file imports by `*`."""

    module: ModuleInfo


@dataclass(frozen=True, slots=True)
class _Code:
    """One top-level statement of a file, by its number."""

    module: ModuleInfo
    number: int


@dataclass(frozen=True, slots=True)
class _Name:
    """All top-level statements of a file that bind a name by themselves, not by an import."""

    module: ModuleInfo
    name: str


@dataclass(frozen=True, slots=True)
class _Binders:
    """What binds a name in a file: the numbers of the statements that do it themselves, and the imports."""

    numbers: list[int] = field(default_factory=list)
    imports: list[Binding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A statement that is asked for what it reads: its names, its text, and whether it computes names of its own.

    Code that computes names, as in `getattr(module, name)`, may read any name.
    """

    names: frozenset[str]
    text: str
    computes_names: bool

    def passes_on(self, name: str) -> bool:
        """Return whether the statement may hand a module to other code, which may then read any name of the module.

        Otherwise it only reads attributes of the module, as in `name.attribute`.
        """
        return self.computes_names or re.search(rf"\b{re.escape(name)}\b(?!\s*\.\s*\w)", self.text) is not None


_COMPUTING: Final = frozenset("getattr setattr attrgetter methodcaller globals vars locals eval exec __dict__".split())
"""The names by which code reads or binds names that it computes."""

_Part: TypeAlias = "_File | _Import | _Star | _Code | _Name"
"""A part of the program that an analysis may read."""


class AnalysisKeys:
    """The keys of the results of a program's given files.

    `facts_of` gives the facts about a file, `relative` a path as it is written in keys, and `content` the digest of a
    given file's content. `base` is the digest of everything else on which results depend.
    """

    def __init__(
        self,
        program: Program,
        program_facts: ProgramFacts,
        facts_of: Callable[[ModuleInfo], FileFacts | None],
        relative: Callable[[Path], str],
        base: str,
    ) -> None:
        self._program = program
        self._program_facts = program_facts
        self._facts_of = facts_of
        self._relative = relative
        self._base = base
        self._given = frozenset(program.given_paths)
        self._facts: dict[ModuleInfo, FileFacts | None] = {}
        self._binders: dict[ModuleInfo, Mapping[str, _Binders]] = {}
        self._found: dict[tuple[ModuleInfo, str, int], ModuleInfo | None] = {}
        self._paths: dict[tuple[ModuleInfo, Binding], list[Path]] = {}
        self._digests: dict[_Part, str | None] = {}

    def key_of(self, module: ModuleInfo, content: str) -> str | None:
        """Return the key for the result of a given file whose content has a digest; None where no key is safe."""
        parts: list[_Part] = [_File(module)]
        parts += [_Code(module, number) for number, unit in enumerate(module.index.statements) if unit.kind != "import"]
        filled = self._filled_registries(module)
        run_first = {file for _, files in filled if files is not None for file in files}
        run_first.update(self._program_facts.default_setters.imported_by(module))
        for file in sorted(run_first, key=lambda one: one.path):
            parts += [_File(file), *(_Code(file, number) for number in range(len(file.index.statements)))]
        digests = [self._digest(part) for part in parts]
        registries = [
            [name, None if files is None else [self._relative(one.path) for one in files]] for name, files in filled
        ]
        otherwise = self._program_facts.default_setters.may_set_start_method(module)
        waiting = self._program_facts.blocking_launches.may_hold_for(module)
        own = [self._relative(module.path), content, registries, self._reaching(module), otherwise, waiting]
        if "cuda" in module.source.text:
            kernels = self._program_facts.kernel_wrappers.names_in(module)
            seeded = self._program_facts.seeded_functions.names_in(module)
            checked = self._program_facts.checked_functions.names_in(module)
            own += [self._program_facts.cuda_kernels.needed_around(module), sorted(kernels), sorted(seeded)]
            own.append(sorted(self._program_facts.compiled_modules.names_in(module)))
            own += [sorted(checked), sorted(self._program_facts.refusing_classes.names_in(module))]
        if any(one in module.source.text for one in ("GradScaler", "autocast")):
            own.append(self._program_facts.is_mixed_precision(module))
        return None if None in digests else digest_of([self._base, own, digests])

    def _reaching(self, module: ModuleInfo) -> list[int]:
        """Return the numbers of the statements of a file from which tensors can be reached, so that they are run.

        That depends on which files are set aside, and on names in strings, which lead to no part.
        """
        reach = self._program_facts.tensor_reach
        return [
            number
            for number, unit in enumerate(module.index.statements)
            if (unit.kind in ("function", "class") or "__name__" in unit.mentions)
            and reach.reaches_tensors(module, unit)
        ]

    def _filled_registries(self, module: ModuleInfo) -> list[tuple[str, list[ModuleInfo] | None]]:
        """Return the registries that files fill which a file imports, with these files; None if they hold too much."""
        found = self._program_facts.registering_files.all_imported_by(module)
        return [
            (
                f"{self._relative(path)}:{name}",
                None if sum(count for _, count in files) > MAX_REGISTERED else [file for file, _ in files],
            )
            for (path, name), files in sorted(found.items(), key=lambda one: one[0])
        ]

    def _digest(self, root: _Part) -> str | None:
        """Return the digest of a part of the program and of all parts that can be reached from it.

        Parts that reach each other have one digest together (the components are found as Tarjan does).
        """
        if root in self._digests:
            return self._digests[root]
        order: dict[_Part, int] = {root: 0}
        lowest: dict[_Part, int] = {root: 0}
        stack: list[_Part] = [root]
        height: dict[_Part, int] = {root: 0}
        following = {root: [*dict.fromkeys(self._next_to(root))]}
        pending: list[tuple[_Part, Iterator[_Part]]] = [(root, iter(following[root]))]
        while pending:
            part, rest = pending[-1]
            below = next((one for one in rest if one not in self._digests), None)
            if below is None:
                pending.pop()
                if pending:
                    above = pending[-1][0]
                    lowest[above] = min(lowest[above], lowest[part])
                if lowest[part] == order[part]:
                    members = stack[height[part] :]
                    del stack[height[part] :]
                    self._close(members, following)
            elif below in order:
                lowest[part] = min(lowest[part], order[below])
            else:
                order[below] = lowest[below] = len(order)
                height[below] = len(stack)
                stack.append(below)
                following[below] = [*dict.fromkeys(self._next_to(below))]
                pending.append((below, iter(following[below])))
        return self._digests[root]

    def _close(self, members: list[_Part], following: Mapping[_Part, list[_Part]]) -> None:
        """Give a digest to parts that all reach each other, where those that they reach besides have theirs."""
        inside = set(members)
        contents = [self._content(one) for one in members]
        outside = {self._digests[one] for member in members for one in following[member] if one not in inside}
        known = [one for one in outside if one is not None]
        safe = None not in contents and len(known) == len(outside)
        digest = digest_of([sorted(map(digest_of, contents)), sorted(known)]) if safe else None
        self._digests.update(dict.fromkeys(members, digest))

    def _content(self, part: _Part) -> object:
        """Return what a part says itself, as plain data; None if that cannot be told."""
        module = part.module
        name, facts = self._relative(module.path), self._known_facts(module)
        if facts is None:
            return None
        match part:
            case _Code(number=number):
                return [name, facts.digests[number]]
            case _Import(binding=binding):
                found = [self._relative(path) for path in self._paths_behind(module, binding)]
                return [name, binding.name, binding.module, binding.attribute, binding.level, found]
            case _Star():
                return ["*", name]
            case _Name():
                return ["name", name]
        return [
            name,
            module.name,
            module.is_package,
            module.path in self._given,
            module.path in self._program_facts.default_setters.imported_files,
            self._program_facts.default_setters.may_import_setting_package(module),
            self._moved_from_outside.get(module.path, []),
            facts.local,
        ]

    def _next_to(self, part: _Part) -> Iterator[_Part]:
        """Yield the parts of the program that an analysis may read next, after it has read one."""
        module, facts = part.module, self._known_facts(part.module)
        match part:
            case _Code(number=number) if facts is not None:
                yield _File(module)
                yield from self._reads(module, module.index.statements[number], facts.inner_imports[number])
            case _Import(binding=binding):
                yield _File(module)
                yield from self._files_behind(module, binding)
            case _Star():
                yield _File(module)
                for unit in module.index.statements:
                    for binding in unit.imports:
                        yield from self._files_behind(module, binding)
            case _Name(name=name):
                # One part for all of them: each of thousands of statements that bind one name would lead to all others.
                yield from (_Code(module, number) for number in self._binders_of(module)[name].numbers)
            case _File() if facts is not None:
                yield from (_Code(module, number) for number in facts.run)
                for binding in facts.eager:
                    yield from self._files_behind(module, binding)

    def _files_behind(self, module: ModuleInfo, binding: Binding) -> Iterator[_Part]:
        """Yield the files that may be run where a file imports a name."""
        for path in self._paths_behind(module, binding):
            found = self._program.load(path)
            if found is not None:
                yield _Star(found) if binding.name == "*" else _File(found)

    def _paths_behind(self, module: ModuleInfo, binding: Binding) -> list[Path]:
        """Return the paths of the modules that the words of an import name."""
        key = module, binding
        if key not in self._paths:
            dotted = [binding.module]
            if binding.attribute not in (None, "*"):
                dotted.append(f"{binding.module}.{binding.attribute}".strip("."))
            found = (self._program.resolve(module, name, binding.level) for name in dotted)
            self._paths[key] = [path for path in found if path is not None]
        return self._paths[key]

    def _reads(self, module: ModuleInfo, unit: Statement, inner: tuple[Binding, ...]) -> Iterator[_Part]:
        """Yield the parts that define the names which a statement mentions, in any file."""
        visited: set[Hashable] = set()
        reader = _Reader(unit.mentions, unit.text, not unit.mentions.isdisjoint(_COMPUTING))
        for name in self._binders_of(module) if "globals" in unit.mentions else unit.mentions:
            yield from self._behind(module, name, reader, visited)
        for binding in (*unit.imports, *inner):
            yield _Import(module, binding)
            yield from self._behind_import(module, binding, reader, visited)

    def _behind(self, module: ModuleInfo, name: str, reader: _Reader, visited: set[Hashable]) -> Iterator[_Part]:
        """Yield the parts that define a name of a file for the code that reads it."""
        binders = self._binders_of(module)
        found, stars = binders.get(name), binders.get("*")
        if not (found or stars) or (module, name) in visited:
            return
        visited.add((module, name))
        if found is not None and found.numbers:
            yield _Name(module, name)
        for binding in found.imports if found is not None else ():
            yield _Import(module, binding)
            yield from self._behind_import(module, binding, reader, visited)
        for binding in stars.imports if stars is not None else ():
            starred = self._module(module, binding.module, binding.level)
            if starred is not None:
                yield _Import(module, binding)
                yield from self._behind(starred, name, reader, visited)

    def _behind_import(
        self, module: ModuleInfo, binding: Binding, reader: _Reader, visited: set[Hashable]
    ) -> Iterator[_Part]:
        """Yield the parts of other files that define what an imported name refers to."""
        if binding.attribute is None:
            wanted = binding.module if binding.name != binding.module.partition(".")[0] else binding.name
            module_found = self._module(module, wanted, binding.level)
            yield from self._behind_attributes(module_found, binding.name, reader, visited)
            return
        found = self._module(module, binding.module, binding.level)
        if found is not None and binding.attribute != "*":
            yield from self._behind(found, binding.attribute, reader, visited)
        elif found is not None:
            yield from self._behind_attributes(found, binding.name, reader, visited)
        dotted = f"{binding.module}.{binding.attribute}" if binding.module else binding.attribute
        below = self._module(module, dotted, binding.level)
        yield from self._behind_attributes(below, binding.name, reader, visited)

    def _behind_attributes(
        self, found: ModuleInfo | None, name: str, reader: _Reader, visited: set[Hashable]
    ) -> Iterator[_Part]:
        """Yield the parts that define what code may read as attributes of a module that it has under a name."""
        if found is None or (found, None) in visited:
            return
        visited.add((found, None))
        yield _File(found)
        everything = reader.passes_on(name)
        for one in self._binders_of(found) if everything else reader.names:
            yield from self._behind(found, one, reader, visited)
        if found.is_package:
            there = self._program.module_names_in(found.path.parent)
            for one in there if everything else there & reader.names:
                yield from self._behind_attributes(self._module(found, one, 1), one, reader, visited)

    def _module(self, importer: ModuleInfo, name: str, level: int) -> ModuleInfo | None:
        """Return the module that an import names, None if it is no part of the program."""
        key = importer, name, level
        if key not in self._found:
            self._found[key] = self._program.find(importer, name, level)
        return self._found[key]

    def _binders_of(self, module: ModuleInfo) -> Mapping[str, _Binders]:
        """Return what binds each name of a file."""
        found = self._binders.get(module)
        if found is None:
            new: dict[str, _Binders] = defaultdict(_Binders)
            for number, unit in enumerate(module.index.statements):
                for binding in unit.imports:
                    new[binding.name].imports.append(binding)
                for name in unit.binds | unit.globals if unit.kind != "import" else ():
                    new[name].numbers.append(number)
            found = self._binders[module] = dict(new)
        return found

    def _known_facts(self, module: ModuleInfo) -> FileFacts | None:
        """Return the facts about a file, asked once."""
        if module not in self._facts:
            self._facts[module] = self._facts_of(module)
        return self._facts[module]

    # What is known of a file from the files that import it

    @cached_property
    def _given_facts(self) -> Mapping[Path, FileFacts]:
        """The facts about the given files, by path."""
        modules = {
            path: module for path in self._program.paths_of_interest if (module := self._program.load(path)) is not None
        }
        return {path: facts for path, one in modules.items() if (facts := self._known_facts(one)) is not None}

    @cached_property
    def _moved_from_outside(self) -> Mapping[Path, list[str]]:
        """The attributes that the files which import a file, or the file itself, move from outside of their classes."""
        found: dict[Path, set[str]] = {}
        for path, facts in self._given_facts.items():
            if facts.outside_moves:
                said = {f"{name} {inside}" for name, inside in facts.outside_moves}
                for one in {path, *self._program_facts.imports.reached_by(path)}:
                    found.setdefault(one, set()).update(said)
        return {path: sorted(said) for path, said in found.items()}
