"""What the methods of a class store in an attribute once an object is built, where that needs no run of them."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devlint.domain.join import alternatives, join
from devlint.domain.value import NONE, Value
from devlint.interpreter.objects.class_hierarchy import definition_frame
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend


def stored_later(frame: Frame, before: Value, name: str, methods: Iterable[FunctionInfo]) -> Value | None:
    """Return what an attribute may hold after methods have run in any order; None if that is not known.

    `before` is what it held at first. The stored values must be None or objects of libraries, such as a random
    generator, which an expression of global names makes. A tensor or a device may be changed in many other ways.
    """
    result = before
    for method in methods:
        for expression in method.stores_of_self.get(name, ()):
            if expression is None or not _needs_only_globals(expression, method):
                return None
            result = join(result, definition_frame(frame, method).evaluate(expression))
    return result if all(one == NONE or _is_library_object(frame, one) for one in alternatives(result)) else None


def _needs_only_globals(expression: cst.BaseExpression, method: FunctionInfo) -> bool:
    """Return whether an expression of a method reads no local name, `self` included."""
    return not any(type(one) is cst.Name and one.value in method.locals for one in descend(expression))


def _is_library_object(frame: Frame, value: Value) -> bool:
    """Return whether a value is an object of a class that the program does not define, and no module with tensors."""
    thing = frame.instance(value)
    return thing is not None and isinstance(thing.cls, str) and thing.cell is None and not thing.registered
