"""What decides whether an earlier result still holds, as read off the text of one file alone.

Everything that the analysis of another file may read of a file is in the digest of some statement, or in `local`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from devlint.cache.digests import digest_of, digest_of_bytes
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.placing_statements import EAGER_NAMES, may_place_tensors
from devlint.interpreter.program.registering_files import REGISTERED
from devlint.syntax.index import Binding, Statement
from devlint.syntax.statement import import_binding

_INNER_IMPORT: Final = re.compile(r"(?:\n[ \t\f]+|[:;][ \t\f]*|\\\n[ \t\f]*)(?:from|import)[ \t\f.\\]")
"""An import inside of a block, on a line of its own or after the head of the block or another statement."""
_CONSTANT: Final = re.compile(
    r"(?!__)[^\W\d]\w*[ \t]*=[ \t]*(?:None|True|False|-?\d[\w.]*|\"[^\"\\\n]*\"|'[^'\\\n]*')[ \t]*(?:\#.*)?\n?"
)
"""A statement that gives one name a number, a plain string, a truth value or None: it has no other effect."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about one file.

    By number of the statement: `digests` are those of the texts, `inner_imports` the imports in functions and other
    blocks, and `run` the statements that run where the module is imported. `eager` are the names that are imported at
    once. `local` is the digest of what analyses read of the file as a whole. Of other files, they also ask what
    attributes they move from outside of a class.
    """

    digests: tuple[str, ...]
    inner_imports: tuple[tuple[Binding, ...], ...]
    run: tuple[int, ...]
    eager: tuple[Binding, ...]
    local: str
    outside_moves: tuple[tuple[str, bool], ...]


def facts_of(module: ModuleInfo) -> FileFacts | None:
    """Return the facts about a file; None if they cannot be told, because the file uses newer grammar."""
    units = module.index.statements
    try:
        inner = tuple(tuple(_inner_imports(unit)) for unit in units)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    outline = _Outline(module)
    return FileFacts(
        digests=outline.digests,
        inner_imports=inner,
        run=outline.run,
        eager=tuple(outline.eager),
        local=outline.local_digest(),
        outside_moves=tuple(sorted(module.outside_moves)),
    )


class _Outline:
    """The statements of a file that matter although no name leads to them, and their order."""

    def __init__(self, module: ModuleInfo) -> None:
        self._module = module
        self._units = module.index.statements
        self._binders = Counter(name for unit in self._units for name in _names_bound_by(unit))
        self._constants = frozenset(self._find_constants())
        self.run = tuple(
            number
            for number, unit in enumerate(self._units)
            if (unit.kind == "other" and number not in self._constants)
            or (unit.name is not None and REGISTERED.match(unit.text))
        )
        self.digests = tuple(self._digest(number) for number in range(len(self._units)))

    def _find_constants(self) -> Iterator[int]:
        """Yield the numbers of the statements that only bind a constant: as for a definition, only its readers matter.

        Nothing else binds its name, and it is not among the names for which the top level runs statements at once.
        """
        for number, unit in enumerate(self._units):
            is_plain = unit.kind == "other" and unit.mentions.isdisjoint(EAGER_NAMES)
            if is_plain and len(unit.binds) == 1 and all(self._binders[name] == 1 for name in unit.binds):
                found = _CONSTANT.fullmatch(unit.text)
                if found is not None:
                    yield number

    def _digest(self, number: int) -> str:
        """Return the digest of a statement.

        That of a constant also tells how many statements before it run, one of which may end the program, and how many
        bind all names of another file, perhaps this one.
        """
        text = self._units[number].text
        if number in self._constants:
            stars = sum(any(one.name == "*" for one in unit.imports) for unit in self._units[:number])
            text = f"{bisect_left(self.run, number)} {stars} {text}"
        return digest_of_bytes(text.encode(errors="replace"))[:32]

    @cached_property
    def eager(self) -> list[Binding]:
        """The imports that are followed although no code reads their name."""
        found = []
        for unit in self._units:
            for binding in unit.imports if unit.kind == "import" else ():
                others = (one.mentions for one in self._units if one.kind != "import")
                unread = binding.attribute is None and not any(binding.name in mentions for mentions in others)
                if binding.name == "*" or self._binders[binding.name] > 1 or unread:
                    found.append(binding)
        return found

    def local_digest(self) -> str:
        """Return the digest of what analyses read of the file as a whole: the order in which it runs, and its words."""
        module = self._module
        return digest_of(
            [
                [*self._order()],
                module.index.newer_grammar,
                module.has_other_tensors,
                module.starts_threads,
                module.follows_devices,
                module.measures_by_events,
                sorted(module.rebound_globals),
                sorted(module.collating_functions),
                sorted(module.construction_functions),
                any(unit.mentions & EAGER_NAMES for unit in self._units),
            ]
        )

    def _order(self) -> Iterator[object]:
        """Yield what runs where the module is imported, in order, with the definitions that it uses or that use it."""
        run = [self._units[number] for number in self.run]
        mentioned = frozenset[str]().union(*(unit.mentions for unit in run))
        bound = frozenset[str]().union(*(unit.binds for unit in run))
        eager = set(self.eager)
        for number, (unit, digest) in enumerate(zip(self._units, self.digests, strict=True)):
            if number in self._constants:
                yield from sorted(unit.binds & mentioned)
            elif unit in run:
                yield digest
            elif unit.kind == "import":
                yield from (_plain(one) for one in unit.imports if one in eager)
            elif unit.name in mentioned or self._binders[unit.name or ""] > 1:
                yield [unit.name, may_place_tensors(unit)]
            # The top level looks up which code reads what it binds.
            if unit.kind != "other" and not unit.mentions.isdisjoint(bound):
                yield digest


def _plain(binding: Binding) -> object:
    """Return an import of a name as plain data."""
    return [binding.name, binding.module, binding.attribute, binding.level]


def _names_bound_by(unit: Statement) -> frozenset[str]:
    """Return the names that a top-level statement binds, also by imports or, in functions, by `global`."""
    return unit.binds | unit.globals | {one.name for one in unit.imports}


def _inner_imports(unit: Statement) -> Iterator[Binding]:
    """Yield the imports anywhere in a statement that is no import itself.

    Raises what `ast.parse` raises for a statement that the running Python cannot parse.
    """
    if unit.kind == "import" or not _INNER_IMPORT.search(unit.text):
        return
    for node in ast.walk(ast.parse(unit.text)):
        match node:
            case ast.Import(names=names):
                yield from (import_binding(one.name, one.asname) for one in names)
            case ast.ImportFrom(names=names):
                for one in names:
                    yield Binding(one.asname or one.name, node.module or "", one.name, node.level)
