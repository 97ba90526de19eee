"""What decides whether an earlier result still holds, as read off the text of one file alone.

Everything that the analysis of another file may read of a file is in the digest of some statement, or in `local`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from devlint.cache.digests import digest_of, digest_of_bytes
from devlint.interpreter.driver.module_execution import EAGER_NAMES
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.registering_files import REGISTERED
from devlint.syntax.index import Binding, Statement
from devlint.syntax.statement import import_binding

_INNER_IMPORT: Final = re.compile(r"(?:\n[ \t\f]+|[:;][ \t\f]*|\\\n[ \t\f]*)(?:from|import)[ \t\f.\\]")
"""An import inside of a block, on a line of its own or after the head of the block or another statement."""


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
        self.digests = tuple(digest_of_bytes(unit.text.encode(errors="replace"))[:32] for unit in self._units)
        self.run = tuple(
            number
            for number, unit in enumerate(self._units)
            if unit.kind == "other" or (unit.name is not None and REGISTERED.match(unit.text))
        )
        self._binders = Counter(name for unit in self._units for name in _names_bound_by(unit))

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
        for unit, digest in zip(self._units, self.digests, strict=True):
            if unit in run:
                yield digest
            elif unit.kind == "import":
                yield from (_plain(one) for one in unit.imports if one in eager)
            elif unit.name in mentioned or self._binders[unit.name or ""] > 1:
                yield [unit.name, bool(unit.mentions & EAGER_NAMES)]
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
