"""Results that are written into a tensor: those whose dtype the tensor's dtype cannot take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from devlint.domain.dtype import promotion_category
from devlint.interpreter.operations.result_dtypes import first_result_dtype
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

PROMOTING: Final = frozenset({"promote", "float", "pow"})
"""The dtype rules of operations that compute in the dtype to which their operands promote."""


def refused_write(
    frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]
) -> tuple[Operand, Operand] | None:
    """Return a tensor that an in-place operation cannot write its result into, and the operand that is too wide.

    Torch converts a result to the dtype of the tensor only within its category, or to a higher one: no floats are
    written into integers. None where the operation does not fail, or where no tensor is to blame.
    """
    plain = _without_place(frame, row)
    if plain is None or plain.dtype not in PROMOTING or not operands:
        return None
    target = operands[0]
    result = first_result_dtype(frame, plain, bound, operands).name
    if target.tensor.dtype.name is None or result is None:
        return None
    if promotion_category(result) <= promotion_category(target.tensor.dtype.name):
        return None
    others = [one for one in operands[1:] if one.tensor.dtype.name is not None]
    wide = next(
        (one for one in others if promotion_category(str(one.tensor.dtype)) == promotion_category(result)), None
    )
    return None if wide is None else (target, wide)


def refused_output(
    frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]
) -> tuple[Operand, Operand] | None:
    """Return the tensor given as `out=` that an operation cannot write its result into, and the operand to compare.

    An operation that promotes converts its result within its category, or to a higher one. One whose operands must have
    equal dtypes converts nothing. `operands` end with that tensor.
    """
    *given, target = operands
    wanted, result = target.tensor.dtype.name, first_result_dtype(frame, row, bound, given).name
    if wanted is None or result is None or wanted == result:
        return None
    narrow = promotion_category(result) > promotion_category(wanted)
    if not (row.match or (row.dtype in PROMOTING and narrow)):
        return None
    same = (one for one in given if one.tensor.dtype.name is not None)
    wide = next((one for one in same if promotion_category(str(one.tensor.dtype)) == promotion_category(result)), None)
    return None if wide is None else (target, wide)


def _without_place(frame: Frame, row: Row) -> Row | None:
    """Return the row of the operation that an in-place method writes the result of: `add` for `add_` and `+=`."""
    owner, _, name = row.name.rpartition(".")
    if owner != "torch.Tensor":
        return None
    if name.startswith("__i") and name.endswith("__"):
        return frame.analysis.table.method(f"__{name[3:]}")
    return frame.analysis.table.method(name[:-1]) if name.endswith("_") and not name.endswith("__") else None
