"""What a function is after its decorators: itself, what the program's own decorators make of it, or unknown."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.value import UNKNOWN, LibraryName, Partial, ProgramDefinition, Value
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
"""Libraries whose decorators leave what a function computes as it is: they time, check, cache, compile or register
it, document it, or run it under a context that is followed elsewhere."""

TRANSPARENT_NAMES: Final = frozenset("setter getter deleter command group option argument".split())
"""The same by a decorator's own name, whatever it belongs to: parts of properties, and command lines."""

REGISTERING: Final = "register"
"""How the names of decorators begin that put a function into a registry and hand it back."""

OPAQUE: Final = frozenset({"functools.singledispatch", "functools.singledispatchmethod"})
"""Those in the libraries above that are no such thing."""


def decorated_function(frame: Frame, info: FunctionInfo) -> Value:
    """The value that a function's name is bound to."""

    home = definition_frame(frame, info)
    value: Value = ProgramDefinition(info)
    for decorator in reversed(info.decorators):
        target = home.evaluate(decorator)
        if isinstance(_behind(target), ProgramDefinition):
            value = frame.call(target, Arguments(decorator, [Argument(value, decorator)]), decorator)
        elif not _is_transparent(home, decorator, target):
            return UNKNOWN
    return value


def decorated_class(frame: Frame, info: ClassInfo) -> Value:
    """What a class's name is bound to: the class itself, unless one of the program's decorators makes another thing.

    What libraries' decorators make of a class is still a class of its kind.
    """

    known = frame.analysis.decorated_classes.get(info)
    if known is not None:
        return known
    frame.analysis.decorated_classes[info] = value = ProgramDefinition(info)
    home = definition_frame(frame, info)
    for decorator in reversed(info.node.decorators):
        target = home.evaluate(decorator.decorator)
        if isinstance(_behind(target), ProgramDefinition):
            given = [Argument(value, decorator.decorator)]
            made = frame.call(target, Arguments(decorator, given), decorator)
            value = made if isinstance(made, ProgramDefinition) else value
    frame.analysis.decorated_classes[info] = value
    return value


def _is_transparent(home: Frame, decorator: cst.BaseExpression, target: Value) -> bool:
    called = decorator.func if isinstance(decorator, cst.Call) else decorator
    last = (dotted_name(called) or "").rpartition(".")[2]
    if last in TRANSPARENT_NAMES or last.startswith(REGISTERING):
        return True
    name = _library_name(home, target)
    if name is None and called is not decorator:
        name = _library_name(home, home.evaluate(called))
    return name is not None and name not in OPAQUE and name.partition(".")[0] in TRANSPARENT_LIBRARIES


def _library_name(home: Frame, value: Value) -> str | None:
    """The dotted name of a library's function, or of the class of a library's object."""
    value = _behind(value)
    if isinstance(value, LibraryName):
        return value.name
    thing = home.instance(value)
    return thing.cls if thing is not None and isinstance(thing.cls, str) else None


def _behind(value: Value) -> Value:
    while isinstance(value, Partial):
        value = value.target
    return value
