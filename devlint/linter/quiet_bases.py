"""Base classes that do nothing with their subclasses: a class with such bases is made only where its name stands."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Statement

PLAIN_BASES: Final = frozenset({"object", "nn.Module", "torch.nn.Module", "Module"})
"""The library classes that keep no list of their subclasses, and call few of their methods."""
_ABSTRACT: Final = frozenset({"ABC", "abc.ABC"})
"""The library classes that only say which methods a subclass must have."""
_OF_LIGHTNING: Final = frozenset({"LightningModule", "LightningDataModule"})
"""The classes of Lightning, which call none of the private methods that a subclass has of its own."""
_LIGHTNING: Final = frozenset({"lightning", "pytorch_lightning"})
"""The packages that Lightning is imported from."""
_MAX_DEPTH: Final = 8
"""The number of ancestors from which on a class is taken to be registered somewhere."""


def has_quiet_bases(program: Program, module: ModuleInfo, unit: Statement, depth: int = 0) -> bool:
    """Return whether no base of a class in a file registers its subclasses; other classes may be found by their base.

    A base is plain, a class of torch, which keeps no list of subclasses, or a class of the program that has quiet bases
    and neither a decorator nor `__init_subclass__`.
    """
    if "metaclass=" in unit.text or depth > _MAX_DEPTH:
        return False
    return all(
        base in PLAIN_BASES
        or base in _ABSTRACT
        or _is_of_torch(module, base)
        or _is_quiet(program, module, base, depth)
        for base in unit.bases
    )


def call_no_private_methods(module: ModuleInfo, unit: Statement) -> bool:
    """Return whether no base of a class in a file calls a private method that the class has of its own."""
    return all(
        base in PLAIN_BASES or (base.rpartition(".")[2] in _OF_LIGHTNING and _is_from(module, base, _LIGHTNING))
        for base in unit.bases
    )


def _is_of_torch(module: ModuleInfo, base: str) -> bool:
    """Return whether a file imports the class of a dotted name from torch."""
    return _is_from(module, base, frozenset({"torch"}))


def _is_from(module: ModuleInfo, base: str, packages: Set[str]) -> bool:
    """Return whether a file imports the class of a dotted name from one of some packages."""
    root = base.partition(".")[0]
    imports = [one for unit in module.index.statements for one in unit.imports if one.name == root]
    return bool(imports) and all(one.module.partition(".")[0] in packages and not one.level for one in imports)


def _is_quiet(program: Program, module: ModuleInfo, name: str, depth: int) -> bool:
    """Return whether a name in a file is that of a class of the program that does nothing with its subclasses."""
    unit = module.index.definitions.get(name)
    if unit is not None:
        is_plain = unit.kind == "class" and not unit.starts_with("@") and "__init_subclass__" not in unit.text
        return is_plain and has_quiet_bases(program, module, unit, depth + 1)
    for one in (one for statement in module.index.statements for one in statement.imports if one.name == name):
        path = program.resolve(module, one.module, one.level)
        home = program.load(path) if path is not None else None
        if home is not None and one.attribute is not None:
            return depth < _MAX_DEPTH and _is_quiet(program, home, one.attribute, depth + 1)
    return False
