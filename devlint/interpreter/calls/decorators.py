"""Decorators: the value of a function's or class's name after its decorators are applied.

The value is the definition itself, what the program's own decorators return, or unknown.
"""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.objects import Sequence
from devlint.domain.record import replace
from devlint.domain.value import (
    UNKNOWN,
    Array,
    LibraryName,
    Number,
    Partial,
    ProgramDefinition,
    Rank,
    Ref,
    Tuple,
    Value,
)
from devlint.interpreter.objects.class_hierarchy import definition_frame
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

TRANSPARENT_LIBRARIES: Final = frozenset(
    "abc atexit beartype builtins click contextlib dataclasses enum functools hydra jaxtyping lightning"
    " lightning_fabric lightning_utilities numba overrides pytest pytorch_lightning tenacity torch transformers"
    " typeguard typer typing typing_extensions unittest warnings".split()
)
"""Libraries whose decorators do not change what a function computes.

They time, check, cache, compile, register or document the function, or run it under a context that is modelled
elsewhere.
"""

TRANSPARENT_NAMES: Final = frozenset("setter getter deleter command group option argument".split())
"""Names of decorators that do not change what a function computes, whatever library they belong to.

They make parts of properties and of command lines.
"""

REGISTERING_PREFIX: Final = "register"
"""The prefix of the names of decorators that put a function into a registry and return it unchanged."""

OPAQUE_DECORATORS: Final = frozenset({"functools.singledispatch", "functools.singledispatchmethod"})
"""Decorators of the libraries above that do change what a function computes."""


COMPILERS: Final = frozenset({"numba"})
"""Libraries whose decorators compile a function with arithmetic of their own, unlike NumPy's."""


def is_compiled(frame: Frame, info: FunctionInfo) -> bool:
    """Return whether a decorator compiles a function with other dtypes than NumPy would compute, as Numba's do."""
    home = definition_frame(frame, info)
    for decorator in info.decorators:
        called = decorator.func if isinstance(decorator, cst.Call) else decorator
        name = _library_name(home, home.evaluate(called))
        if name is not None and name.partition(".")[0] in COMPILERS:
            return True
    return False


def without_dtypes(frame: Frame, value: Value) -> Value:
    """Return the result of a compiled function: its arrays have unknown dtypes, and its scalars are Python numbers."""
    match value:
        case Array(rank=Rank.ZERO):
            return Number()
        case Array():
            return replace(value, dtype=UNKNOWN_DTYPE)
        case Tuple(items=items):
            return replace(value, items=tuple(without_dtypes(frame, one) for one in items))
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                known = None if thing.items is None else tuple(without_dtypes(frame, one) for one in thing.items)
                prefix = tuple(without_dtypes(frame, one) for one in thing.prefix)
                element = without_dtypes(frame, thing.element)
                frame.put(address, replace(thing, items=known, element=element, prefix=prefix))
    return value


def decorated_function(frame: Frame, info: FunctionInfo) -> Value:
    """Return the value that a function's name is bound to after its decorators.

    The value is unknown if devlint does not know one of the decorators. A decorator that calls the function calls its
    own body, without decorators: the others are not applied yet.
    """
    undecorated = frame.analysis.unwrapping_decorators
    if info in undecorated:
        return _apply_decorators(frame, info)
    undecorated.add(info)
    try:
        return _apply_decorators(frame, info)
    finally:
        undecorated.discard(info)


def _apply_decorators(frame: Frame, info: FunctionInfo) -> Value:
    """Return what a function's decorators make of it, from the last to the first."""
    home = definition_frame(frame, info)
    value: Value = ProgramDefinition(info)
    for decorator in reversed(info.decorators):
        if _only_documents(home, decorator):
            continue
        target = home.evaluate(decorator)
        if isinstance(_unwrap_partial(target), ProgramDefinition):
            value = frame.call(target, Arguments(decorator, [Argument(value, decorator)]), decorator)
        elif not _is_transparent(home, decorator, target):
            return UNKNOWN
    return value


def decorated_class(frame: Frame, info: ClassInfo) -> Value:
    """Return the value that a class's name is bound to after its decorators.

    The value is the class itself unless one of the program's decorators returns another definition. Decorators from
    libraries are assumed to return a class of the same kind.
    """
    known = frame.analysis.decorated_classes.get(info)
    if known is not None:
        return known
    frame.analysis.decorated_classes[info] = value = ProgramDefinition(info)
    home = definition_frame(frame, info)
    for decorator in reversed(info.node.decorators):
        if _only_documents(home, decorator.decorator):
            continue
        target = home.evaluate(decorator.decorator)
        if isinstance(_unwrap_partial(target), ProgramDefinition):
            given = [Argument(value, decorator.decorator)]
            made = frame.call(target, Arguments(decorator, given), decorator)
            value = made if isinstance(made, ProgramDefinition) else value
    frame.analysis.decorated_classes[info] = value
    return value


def _only_documents(home: Frame, decorator: cst.BaseExpression) -> bool:
    """Return whether a decorator is a function of the program that only writes documentation."""
    called = home.evaluate(decorator.func if isinstance(decorator, cst.Call) else decorator)
    definition = called.definition if isinstance(called, ProgramDefinition) else None
    if not isinstance(definition, FunctionInfo) or definition.unit.name != definition.name:
        return False
    return home.analysis.facts.documenting_decorators.is_one(definition.module, definition.unit)


def _is_transparent(home: Frame, decorator: cst.BaseExpression, target: Value) -> bool:
    """Return whether a decorator does not change what the decorated function computes.

    That is judged by the decorator's name or by the library that it comes from.
    """
    called = decorator.func if isinstance(decorator, cst.Call) else decorator
    last = (dotted_name(called) or "").rpartition(".")[2]
    if last in TRANSPARENT_NAMES or last.startswith(REGISTERING_PREFIX):
        return True
    name = _library_name(home, target)
    if name is None and called is not decorator:
        name = _library_name(home, home.evaluate(called))
    return name is not None and name not in OPAQUE_DECORATORS and name.partition(".")[0] in TRANSPARENT_LIBRARIES


def _library_name(home: Frame, value: Value) -> str | None:
    """Return the dotted name of a library function, or of the library class of an object; None for other values."""
    value = _unwrap_partial(value)
    if isinstance(value, LibraryName):
        return value.name
    thing = home.instance(value)
    return thing.cls if thing is not None and isinstance(thing.cls, str) else None


def _unwrap_partial(value: Value) -> Value:
    """Return the function inside a `functools.partial`, however deeply nested; any other value unchanged."""
    while isinstance(value, Partial):
        value = value.target
    return value
