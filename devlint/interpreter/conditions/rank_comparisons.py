"""Comparisons of a tensor's number of dimensions with a number: `x.dim() == 0`, `x.ndim > 1`, `len(x.shape) == 2`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.value import Const, Rank, Tensor, Value
from devlint.interpreter.conditions.constant_comparisons import compare_constants
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import held_value, rebind

_COUNTS: Final = frozenset({"dim", "ndimension"})
"""The methods that return a tensor's number of dimensions."""

_TRIED: Final = range(9)
"""The numbers of dimensions that stand for all; no program compares with a larger one."""

_NARROWEST: Final = (*map(Rank.of, range(6)), Rank.MANY, Rank.SOME)
"""The ranks that say something of the number of dimensions, those that say most first."""


def _fits(rank: Rank, number: int) -> bool:
    """Return whether a tensor of a rank may have a number of dimensions."""
    return number >= rank.least if rank.number is None else number == rank.number


def compare_rank(frame: Frame, node: cst.BaseExpression, operator: cst.BaseCompOp, other: Value) -> bool | None:
    """Return whether a comparison of a tensor's number of dimensions with a number holds; None if it is open.

    `node` is the left operand, `other` the value of the right one.
    """
    tested = _tested(node)
    tensor = held_value(frame, tested) if tested is not None else None
    if not isinstance(tensor, Tensor) or not isinstance(other, Const):
        return None
    answers = {answer for _, answer in _answers(tensor.rank, operator, other)}
    return answers.pop() if len(answers) == 1 else None


def narrow_rank(frame: Frame, node: cst.BaseExpression, operator: cst.BaseCompOp, other: Value, holds: bool) -> None:
    """Narrow a tensor's rank to the path on which a comparison of its number of dimensions holds, or fails."""
    tested = _tested(node)
    tensor = held_value(frame, tested) if tested is not None else None
    if tested is None or not isinstance(tensor, Tensor) or not isinstance(other, Const):
        return
    left = [number for number, answer in _answers(tensor.rank, operator, other) if answer is holds]
    narrower = next((one for one in _NARROWEST if all(_fits(one, number) for number in left)), tensor.rank)
    if left and narrower is not tensor.rank:
        rebind(frame, tested, tensor, replace(tensor, rank=narrower))


def _answers(rank: Rank, operator: cst.BaseCompOp, other: Const) -> list[tuple[int, bool]]:
    """Return the numbers of dimensions that a rank allows, each with the answer of a comparison with it, if known."""
    found = ((number, compare_constants(operator, Const(number), other)) for number in _TRIED if _fits(rank, number))
    return [(number, answer) for number, answer in found if isinstance(answer, bool)]


def _tested(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the expression of which a node asks the number of dimensions; None if the node does not."""
    match node:
        case cst.Attribute(value=tested, attr=cst.Name(value="ndim")):
            return tested
        case cst.Call(func=cst.Attribute(value=tested, attr=cst.Name(value=method)), args=[]) if method in _COUNTS:
            return tested
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=sizes)]):
            match sizes:
                case cst.Attribute(value=tested, attr=cst.Name(value="shape")):
                    return tested
                case cst.Call(func=cst.Attribute(value=tested, attr=cst.Name(value="size")), args=[]):
                    return tested
    return None
