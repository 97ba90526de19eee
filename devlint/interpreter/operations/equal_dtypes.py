"""Equal dtypes: what an operation that needs operands of one dtype tells about the dtypes of its operands."""

from __future__ import annotations

from collections.abc import Sequence

from devlint.domain.dtype import Dtype, equals_surely, with_category
from devlint.domain.record import replace
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def match_dtypes(frame: Frame, row: Row, operands: Sequence[Operand]) -> list[Operand]:
    """Return the operands of an operation with the dtypes that they have if it does not fail.

    All operands of a group of `Row.match` then have the dtype of that one of which most is known. That the symbols of
    other operands stand for this dtype is recorded in the state.
    """
    operands = list(operands)
    for group in row.match:
        members = [one for one in operands if one.name in group]
        shared = _shared_dtype(frame, members)
        if shared is None:
            continue
        for position, one in enumerate(operands):
            if one.name in group and not equals_surely(one.tensor.dtype, shared):
                _record_equality(frame, one.tensor.dtype, shared)
                operands[position] = replace(one, tensor=replace(one.tensor, dtype=shared))
    return operands


def _shared_dtype(frame: Frame, operands: Sequence[Operand]) -> Dtype | None:
    """Return the dtype that operands share: that of which most is known; None where they do not tell or disagree."""
    known = [canonical_dtype(frame, one.tensor.dtype) for one in operands if one.tensor.dtype.is_known]
    if not known or len(operands) < 2 or len({one.name for one in known if one.name is not None}) > 1:
        return None
    return max(known, key=_knowledge)


def _knowledge(dtype: Dtype) -> int:
    """Return how much is known of a dtype: most of a named one, more of a module's than of an argument's.

    Least is known of one that is computed from others.
    """
    if dtype.symbol is None:
        return 3
    return -1 if dtype.symbol.is_computed else dtype.symbol.category


def _record_equality(frame: Frame, dtype: Dtype, shared: Dtype) -> None:
    """Record in the state that the object of a symbolic dtype has the dtype `shared`."""
    symbol = canonical_dtype(frame, dtype).symbol
    if symbol is None or symbol.is_computed or (shared.symbol is not None and symbol.origin == shared.symbol.origin):
        return
    state = frame.state.torch_state
    frame.state.torch_state = replace(state, equal_dtypes=state.equal_dtypes | {(symbol.origin, shared)})


def canonical_dtype(frame: Frame, dtype: Dtype) -> Dtype:
    """Return a symbolic dtype by the symbol that it is known to equal; any other dtype unchanged."""
    equal = frame.state.torch_state.equal_dtypes
    while equal and dtype.symbol is not None:
        origin, category = dtype.symbol.origin, dtype.symbol.category
        other = next((one for known, one in equal if known == origin), None)
        if other is None:
            break
        dtype = with_category(other, category)
    return dtype
