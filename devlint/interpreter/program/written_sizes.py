"""The sizes that a call of a factory writes out, by which a tensor is known to have no elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

_SIZED: Final = frozenset({"rand", "randn", "zeros", "ones", "empty"})
"""The factories of torch and NumPy whose positional arguments are sizes."""


def has_no_elements(call: object) -> bool:
    """Return whether a factory's call makes a tensor without elements by the sizes that it writes out."""
    sizes = (_sizes(call) if isinstance(call, cst.Call) else None) or ()
    return any(isinstance(one, cst.Integer) and int(one.value) == 0 for one in sizes)


def _sizes(call: cst.Call) -> Sequence[cst.BaseExpression] | None:
    """Return the expressions of the sizes that a factory's call writes out; None where it does not."""
    match call.func:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            given = next((one.value for one in call.args if _names_sizes(one)), None)
            positional = [one for one in call.args if one.keyword is None]
            if given is None and name in _SIZED and all(one.star == "" for one in positional):
                if len(positional) != 1 or isinstance(positional[0].value, cst.Integer):
                    return [one.value for one in positional]
                given = positional[0].value
            return _elements(given) if given is not None else None
    return None


def _names_sizes(argument: cst.Arg) -> bool:
    """Return whether an argument is passed as `size` or `shape`."""
    return argument.keyword is not None and argument.keyword.value in ("size", "shape")


def _elements(sizes: cst.BaseExpression) -> Sequence[cst.BaseExpression] | None:
    """Return the sizes that an expression writes out, as a tuple, a list or one number; None for any other."""
    if isinstance(sizes, cst.Integer):
        return [sizes]
    if not isinstance(sizes, cst.Tuple | cst.List):
        return None
    elements = [one.value for one in sizes.elements if isinstance(one, cst.Element)]
    return elements if len(elements) == len(sizes.elements) else None
