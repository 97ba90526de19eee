"""Names that a file binds nowhere: reading one raises a NameError, so that code behind it does not run."""

from __future__ import annotations

import builtins
import re
import symtable
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo

_PUT_THERE_BY_OTHERS: Final = frozenset({"_", "display", "get_ipython", "profile", "reveal_type", "snakemake"})
"""Names that programs which run a file put among its names: translators, notebooks, profilers, workflows."""

_BINDS_UNSEEN: Final = re.compile(
    r"\bimport\s*\(?\s*\*|\b(?:exec|execfile|globals|locals|vars)\s*\(|\b(?:__builtins__|builtins)\b"
)
"""What may bind names that the file does not write out."""


def is_bound_nowhere(module: ModuleInfo, name: str) -> bool:
    """Return whether no scope of a file binds a name, nor Python itself, nor a program that runs the file."""
    if hasattr(builtins, name) or name.startswith(("__", "reveal_")) or name in _PUT_THERE_BY_OTHERS:
        return False
    bound = _bound_names(module.source.text) if module.source.cells is None else None
    return bound is not None and name not in bound


@lru_cache(maxsize=64)
def _bound_names(text: str) -> frozenset[str] | None:
    """Return all names that any scope of a file binds; None if the text does not tell."""
    if _BINDS_UNSEEN.search(text):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = symtable.symtable(text, "<unknown>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return frozenset(_names(table))


def _names(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that a scope and the scopes within it bind: assigned, imported, defined, or parameters."""
    for symbol in table.get_symbols():
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_parameter() or symbol.is_namespace():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _names(child)
