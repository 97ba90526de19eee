"""Dtypes of indices and masks: the check that an operation accepts those that it is given."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import libcst as cst

from devlint.domain.dtype import Dtype, is_floating, promotion_category
from devlint.domain.path_conditions import NO_CONDITION, PathCondition, entails
from devlint.domain.record import replace
from devlint.interpreter.operations.calls_into_other_files import refusal_at_call_from_given_file
from devlint.interpreter.state.events import Operand, RefusedIndexDtype
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def report_refused_index(frame: Frame, row: Row, operands: Iterable[Operand], node: cst.CSTNode, name: str) -> bool:
    """Report the first operand that is an index or mask of a dtype that the operation refuses (`Row.index_dtypes`).

    Return whether there was one.
    """
    if not row.index_dtypes:
        return False
    for operand in operands:
        accepted = row.index_dtypes.get(operand.name)
        for when, dtype in _cases(operand.tensor.dtype) if accepted else ():
            if accepted and _is_refused(dtype, accepted) and not _is_excluded(frame, when):
                refused = replace(operand, tensor=replace(operand.tensor, dtype=dtype))
                refusal = RefusedIndexDtype(frame.event_context(node), name, refused, tuple(sorted(accepted)), when)
                frame.emit(refusal_at_call_from_given_file(frame, refusal))
                return True
    return False


def _cases(dtype: Dtype) -> Iterable[tuple[PathCondition, Dtype]]:
    """Return the dtypes that a tensor has, each with the condition of the paths on which it has it."""
    return [(frozenset((test,)), one) for test, one in dtype.cases] or [(NO_CONDITION, dtype)]


def _is_excluded(frame: Frame, when: PathCondition) -> bool:
    """Return whether no run that comes here fulfils a condition."""
    return any(entails(frame.state.path_condition, test) is False for test in when)


def _is_refused(dtype: Dtype, accepted: Collection[str]) -> bool:
    """Return whether a dtype is none of those accepted.

    The name tells, or what the dtype is at least: `x / 2` is a float whatever `x` is. Where floating masks are accepted
    as well, only integers are refused: which floats it takes depends on the dtypes of the other operands.
    """
    if any(map(is_floating, accepted)):
        is_integer = dtype.name is not None and promotion_category(dtype.name) == promotion_category("int64")
        return is_integer and dtype.name not in accepted
    if dtype.symbol is not None:
        return dtype.symbol.category >= promotion_category("float32")
    return dtype.name is not None and dtype.name not in accepted
