"""A faster start: the methods of dataclasses are compiled when they are first called, and not when they are defined.

`dataclasses` writes the text of `__init__`, `__eq__`, `__hash__`, `__repr__` and other methods of each class, and
compiles it. devlint and libcst have four hundred such classes, and most of their methods are never called in a run: to
compile them all took 40 % of the time that devlint took to start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

_PACKAGES: Final = frozenset({"devlint", "libcst", "pathspec"})
"""The packages whose dataclasses get late methods; those of a program that `devlint run` runs stay as they are."""
_COMPILER: Final = "_create_fn"
"""The function of `dataclasses` that compiles one method. Python 3.13 has none: there, no method is late."""


def compile_methods_late() -> None:
    """Let the classes that are defined from now on in this process compile their methods late."""
    compiler = vars(dataclasses).get(_COMPILER)
    if compiler is not None:
        setattr(dataclasses, _COMPILER, _late(compiler))


def _late(compiler: Callable[..., FunctionType]) -> Callable[..., FunctionType]:
    """Return what does the work of `compiler`, but later for the classes of some packages."""

    def compile_or_wait(name: str, *args: Any, **options: Any) -> FunctionType:
        module = (options.get("globals") or {}).get("__name__", "")
        if module.partition(".")[0] not in _PACKAGES:
            return compiler(name, *args, **options)
        return _standing_in(name, lambda: compiler(name, *args, **options))

    return compile_or_wait


def _standing_in(name: str, make: Callable[[], FunctionType]) -> FunctionType:
    """Return a method that is replaced, in the class that has it, by the method that `make` makes when it is called."""

    made: FunctionType | None = None

    def method(self: object, *args: Any, **options: Any) -> Any:
        nonlocal made
        if made is None:
            made = make()
            made.__qualname__ = method.__qualname__
        for owner in type(self).__mro__:
            if vars(owner).get(name) is method:
                setattr(owner, name, made)
        return made(self, *args, **options)

    assert isinstance(method, FunctionType)
    method.__name__ = name
    return method
