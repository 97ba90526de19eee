"""Functions and floats given as sizes: a factory such as `torch.zeros(n / 2)` raises for one on every device."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devlint.domain.objects import Sequence
from devlint.domain.value import BoundLibraryMethod, Const, Number, OpaqueData, ProgramDefinition, Tensor, Tuple, Value
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend, dotted_name


def has_refused_size(frame: Frame, call: LibraryCall) -> bool:
    """Return whether a size of a factory's call is surely a float, a function, a class or a method, and no integer."""
    given = call.arguments.keywords.get("size")
    sizes = [*call.arguments.positional, *([given] if given is not None else [])]
    return any(_is_callable(frame, one) or any(map(_is_float, _sizes_in(frame, one.value))) for one in sizes)


def _sizes_in(frame: Frame, value: Value) -> Iterable[Value]:
    """Return the sizes that an argument stands for: the elements of a tuple or a list, else the argument itself."""
    thing = frame.object_of(value)
    if isinstance(thing, Sequence):
        return thing.items or ()
    return value.items if isinstance(value, Tuple) else (value,)


def _is_float(size: Value) -> bool:
    """Return whether a size is surely a Python float."""
    match size:
        case Number(kind="float") | Const(value=float()):
            return True
    return False


def _is_callable(frame: Frame, size: Argument) -> bool:
    """Return whether an argument is a definition of the program, or a method of a tensor that is not called.

    What is moved as a whole may have a number under the name of a tensor's method, unless the code calls it.
    """
    match size.value:
        case ProgramDefinition(definition=FunctionInfo() | ClassInfo()):
            return True
        case BoundLibraryMethod(receiver=Tensor(), name=name):
            return frame.analysis.table.method(name) is not None
        case BoundLibraryMethod(receiver=OpaqueData()):
            return _is_called_around(frame, size.node)
    return False


def _is_called_around(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the function that is run calls somewhere what an expression names."""
    name, function = dotted_name(node), frame.function
    if name is None or function is None:
        return False
    return any(isinstance(one, cst.Call) and dotted_name(one.func) == name for one in descend(function.node))
