"""The functions that do nothing but fill registries: tables of names that other code looks up, without a tensor."""

from __future__ import annotations

from typing import Final, TypeAlias

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.relevance import TENSOR_RELATED_NAMES
from devlint.interpreter.program.statement_reads import LocatedStatement, StatementReads
from devlint.syntax.index import Statement

MAX_REACHED: Final = 40
"""The number of statements that such a function may read, directly or through others."""

GlobalName: TypeAlias = tuple[ModuleInfo, str]
"""A global name, and the module that binds it."""


class RegistryFillers:
    """The answers to the question which global names a function changes that concerns no tensor; `reads` tells them."""

    def __init__(self, reads: StatementReads) -> None:
        self._reads = reads
        self._known: dict[Statement, frozenset[GlobalName]] = {}

    def registries_of(self, module: ModuleInfo, function: Statement) -> frozenset[GlobalName]:
        """Return the global names to which a function of a module, and what it calls, may write.

        There are none of a function that may make, move or cast a tensor, or that reads much.
        """
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = self._find(module, function)
        return known

    def _find(self, module: ModuleInfo, function: Statement) -> frozenset[GlobalName]:
        """Return what `registries_of` returns for a function of which it has not been asked before."""
        seen: dict[LocatedStatement, None] = {(module, function): None}
        waiting = [*seen]
        while waiting:
            home, one = waiting.pop()
            if (
                not one.mentions.isdisjoint(TENSOR_RELATED_NAMES - {"type", "cache", "lru_cache"})
                or len(seen) > MAX_REACHED
            ):
                return frozenset()
            found = [site for site in self._reads.direct_reads(home, one) if site not in seen]
            seen.update(dict.fromkeys(found))
            waiting += found
        return frozenset((home, name) for home, one in seen if one.kind == "other" for name in one.binds)
