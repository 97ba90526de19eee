"""What the methods of a class store in an attribute once an object is built, where that needs no run of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import libcst as cst

from devlint.domain.join import alternatives, join
from devlint.domain.value import NONE, LibraryName, Value
from devlint.interpreter.objects.class_hierarchy import definition_frame
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend

CONSTANTS: Final = frozenset({"None", "True", "False"})
"""The names that libcst gives to constants."""


def stored_later(frame: Frame, before: Value, name: str, methods: Iterable[FunctionInfo]) -> Value | None:
    """Return what an attribute may hold after methods have run in any order; None if that is not known.

    `before` is what it held at first. The stored values must be None or objects of libraries, such as a random
    generator, which an expression of libraries' names makes. A tensor or a device may be changed in many other ways.
    """
    result = before
    for method in methods:
        for expression in method.stores_of_self.get(name, ()):
            if expression is None or not _reads_only_libraries(frame, expression, method):
                return None
            result = join(result, definition_frame(frame, method).evaluate(expression))
    return result if all(one == NONE or _is_library_object(frame, one) for one in alternatives(result)) else None


def _reads_only_libraries(frame: Frame, expression: cst.BaseExpression, method: FunctionInfo) -> bool:
    """Return whether each name that an expression of a method reads is a library's: no local name, `self` included."""
    no_names: set[cst.CSTNode] = set()
    for one in (expression, *descend(expression)):
        match one:
            case cst.Attribute(attr=attr):
                no_names.add(attr)
            case cst.Arg(keyword=cst.Name() as keyword):
                no_names.add(keyword)
            case cst.Name(value=name) if one not in no_names and name not in CONSTANTS:
                value = frame.analysis.global_name(method.module, name) if name not in method.locals else None
                if not isinstance(value, LibraryName):
                    return False
    return True


def _is_library_object(frame: Frame, value: Value) -> bool:
    """Return whether a value is an object of a class that the program does not define, and no module with tensors."""
    thing = frame.instance(value)
    return thing is not None and isinstance(thing.cls, str) and thing.cell is None and not thing.registered
