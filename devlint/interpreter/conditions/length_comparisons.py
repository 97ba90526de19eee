"""Comparisons of the length of a sequence with a number: `len(xs) > 0` is the condition that `xs` has an element.

The number of devices is one too: `torch.cuda.device_count() > 1` says that CUDA is available.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import libcst as cst

from devlint.domain.availability import DEVICE_COUNT, is_available
from devlint.domain.path_conditions import Atom, Literal, conjunction
from devlint.domain.value import Const, Number, Value

_MIRRORED: Final[dict[type, type]] = {
    cst.LessThan: cst.GreaterThan,
    cst.LessThanEqual: cst.GreaterThanEqual,
    cst.GreaterThan: cst.LessThan,
    cst.GreaterThanEqual: cst.LessThanEqual,
    cst.Equal: cst.Equal,
    cst.NotEqual: cst.NotEqual,
}
"""The operator with the same meaning for exchanged operands, by libcst operator type."""

_NEGATED: Final[dict[type, type]] = {
    cst.LessThan: cst.GreaterThanEqual,
    cst.LessThanEqual: cst.GreaterThan,
    cst.NotEqual: cst.Equal,
}
"""The opposite operator of those that hold for an empty sequence, by libcst operator type."""


def mirrored(operator: type) -> type | None:
    """Return the libcst operator type with the same meaning for exchanged operands; None for `in` and `is`."""
    return _MIRRORED.get(operator)


def length(filled: Literal | bool, site: tuple[object, ...]) -> Number:
    """Return the length of a sequence as a value that remembers the condition that the sequence has an element.

    `site` identifies the length among others.
    """
    return Number("int", ("length", filled, site))


def element_count(origin: Hashable, text: object, site: tuple[object, ...]) -> Number:
    """Return the number of a tensor's elements; `origin` identifies the tensor, of which all counts are one fact."""
    return length(Literal(Atom(("filled", "elements", origin), text)), site)


def is_dimension(node: cst.CSTNode) -> bool:
    """Return whether an expression asks for the size of one dimension, as `x.shape[0]` and `x.size(0)` do."""
    match node:
        case cst.Subscript(
            value=cst.Attribute(attr=cst.Name(value="shape")), slice=[cst.SubscriptElement(slice=cst.Index())]
        ):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="size")), args=[cst.Arg(star="")]):
            return True
    return False


_PRESENCE: Final[dict[tuple[type, Hashable], bool]] = {
    (cst.GreaterThan, 0): True,
    (cst.GreaterThanEqual, 1): True,
    (cst.NotEqual, 0): True,
    (cst.Equal, 0): False,
    (cst.LessThan, 1): False,
    (cst.LessThanEqual, 0): False,
}
"""The comparisons of a count, by operator and right operand, that say whether there is anything."""


def compare_dimension(operator: cst.BaseCompOp, left: Value, node: cst.CSTNode, right: Value) -> bool | None:
    """Return whether a comparison of a dimension's size asks that it is not zero; False where it asks that it is.

    None for any other comparison. `node` is the left operand.
    """
    match left, right:
        case Number(kind="int", origin=None), Const(value=int(number)) if is_dimension(node):
            return _PRESENCE.get((type(operator), number))
    return None


def filled_condition_of(value: Value) -> Literal | bool | None:
    """Return the condition that a length, or a number of devices, is not zero; None for any other value."""
    match value:
        case Number(origin=(kind, str(type_))) if kind == DEVICE_COUNT:
            return is_available(type_)
        case Number(origin=("length", (Literal() | bool()) as filled, _)):
            return filled
    return None


def compare_length(operator: cst.BaseCompOp, left: Value, right: Value, atom: Atom) -> Literal | bool | None:
    """Return the condition of a comparison of a length with a constant; None for any other comparison.

    `atom` stands for what the comparison says beyond that the sequence has an element.
    """
    kind: type | None = type(operator)
    if isinstance(left, Const):
        left, right, kind = right, left, mirrored(type(operator))
    filled = filled_condition_of(left)
    if filled is None or kind not in _MIRRORED or not isinstance(right, Const) or type(right.value) is not int:
        return None
    if kind in _NEGATED:
        answer = _longer(_NEGATED[kind], filled, right.value, atom)
        return ~answer if isinstance(answer, Literal) else not answer
    return _longer(kind, filled, right.value, atom)


def _longer(kind: type, filled: Literal | bool, number: int, atom: Atom) -> Literal | bool:
    """Return the condition that a length is equal to, greater than, or not less than a number, as `kind` says."""
    if kind is cst.Equal:
        if number == 0:
            return ~filled if isinstance(filled, Literal) else not filled
        least = number if number > 0 else None
    else:
        least = number + 1 if kind is cst.GreaterThan else number
        if least <= 0:
            return True
        if least == 1:
            return filled
    if least is None or filled is False:
        return False
    more = Literal(atom)
    return conjunction(filled, more) if isinstance(filled, Literal) else more
