"""Operators between a tensor and an array to its right: PyTorch leaves them to NumPy, a read on the host."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, promote_array_dtypes
from devlint.domain.value import Array, Tensor, Value
from devlint.interpreter.operations.numpy_reads import report_numpy_read
from devlint.interpreter.operations.operation_names import short_name
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame

ARITHMETIC: Final = frozenset("add sub mul truediv floordiv mod pow matmul".split())
"""The operators that `torch.Tensor` delegates to NumPy when the right operand is an array."""


def is_computed_by_numpy(method: str, left: Value, right: Value) -> bool:
    """Return whether NumPy computes an operator with a tensor to the left and an array to the right.

    False for an array that may be 0-dim: a NumPy number counts as a Python number to PyTorch.
    """
    arrays = isinstance(left, Tensor) and isinstance(right, Array) and right.rank.is_dimensioned
    return arrays and method in ARITHMETIC


def apply_numpy_operator(frame: Frame, method: str, left: Argument, right: Argument, node: cst.CSTNode) -> Value:
    """Return the tensor of `tensor op array`, with the dtype that NumPy computes, and report the tensor's host read."""
    tensor, array = left.value, right.value
    assert isinstance(tensor, Tensor) and isinstance(array, Array)
    report_numpy_read(frame, tensor, short_name(f"torch.Tensor.__{method}__"), node, left.node, array=right.node)
    result = frame.copied_result(tensor)
    own, other = result.dtype.name, array.dtype.name
    promoted = promote_array_dtypes(own, other) if own is not None and other is not None else None
    if promoted is None or promoted != own:
        result = replace(result, dtype=array.dtype if promoted == other else UNKNOWN_DTYPE)
    return replace(result, grad=False, rank=result.rank if result.rank.is_dimensioned else array.rank)
