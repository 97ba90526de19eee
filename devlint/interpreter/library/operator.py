"""Models of `operator`: operators, subscripts and attribute access as functions."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import UNKNOWN, Const, LibraryName, Partial, Tuple, Value
from devlint.interpreter.language.operators import apply_binary_operator
from devlint.interpreter.language.subscripts import get_item
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

BINARY: Final = frozenset("add sub mul truediv floordiv mod pow matmul and_ or_ xor".split())
"""The functions of `operator` that apply a binary operator."""
GETTERS: Final = ("operator.itemgetter", "operator.attrgetter")
"""Functions whose result is a function that takes items or attributes from its argument."""


@models_call(*(f"operator.{name}" for name in BINARY))
def binary(frame: Frame, call: LibraryCall) -> Value:
    """Model `operator.add(a, b)` and the other binary operators: the result of the operator."""
    if len(call.arguments.positional) != 2:
        return UNKNOWN
    left, right = call.arguments.positional
    return apply_binary_operator(frame, call.name.removeprefix("operator.").rstrip("_"), left, right, call.node)


@models_call("operator.getitem")
def getitem(frame: Frame, call: LibraryCall) -> Value:
    """Model `operator.getitem(x, i)`: the result of `x[i]`."""
    if len(call.arguments.positional) != 2:
        return UNKNOWN
    owner, index = call.arguments.positional
    return get_item(frame, owner, [index], call.node)


@models_call(*GETTERS)
def make_getter(frame: Frame, call: LibraryCall) -> Value:
    """Model `itemgetter("x", "y")` and `attrgetter("x")`: a function that returns parts of its argument."""
    names = tuple(one.value for one in call.arguments.positional)
    return Partial(LibraryName(f"{call.name}.__call__"), (Tuple(names),)) if call.arguments.complete else UNKNOWN


@models_call(*(f"{name}.__call__" for name in GETTERS))
def call_getter(frame: Frame, call: LibraryCall) -> Value:
    """Model a call of an `itemgetter` or `attrgetter`: the item or attribute, or a tuple of several."""
    if len(call.arguments.positional) != 2:
        return UNKNOWN
    names, owner = call.arguments.positional
    if not isinstance(names.value, Tuple):
        return UNKNOWN
    if call.name.startswith("operator.itemgetter"):
        values = [get_item(frame, owner, [Argument(one, owner.node)], call.node) for one in names.value.items]
    else:
        values = []
        for one in names.value.items:
            value = owner.value
            for name in str(one.value).split(".") if isinstance(one, Const) else ("",):
                value = frame.get_attribute(value, name, call.node) if name else UNKNOWN
            values.append(value)
    return values[0] if len(values) == 1 else Tuple(tuple(values))
