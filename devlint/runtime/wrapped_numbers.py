"""Calls of operators whose tensor operands arrive as plain numbers.

A number in an expression such as `x * 2.0` becomes a 0-dim tensor inside torch. Torch hands such a tensor to a dispatch
mode as the number again, but most operators do not take one back: TorchScript's tracer calls some of them.
"""

from __future__ import annotations

from typing import Any

import torch

_REFUSAL = "Expected a value of type 'Tensor' for argument"
"""The beginning of torch's error for a number where an operator takes only a tensor."""


def tensors_for_refused_numbers(func: Any, args: tuple[Any, ...], error: Exception) -> tuple[Any, ...] | None:
    """Return an operator's positional arguments with 0-dim tensors in place of numbers that stand for tensors.

    Returns None if the operator's error is about something else.
    """
    if _REFUSAL not in str(error):
        return None
    wanted = [str(argument.type) == "Tensor" for argument in func._schema.arguments]
    found = False
    changed: list[Any] = []
    for value, tensor_wanted in zip(args, wanted, strict=False):
        if tensor_wanted and isinstance(value, int | float | complex):
            found = True
            changed.append(_number_tensor(value))
        else:
            changed.append(value)
    return tuple(changed) if found else None


def _number_tensor(value: complex) -> torch.Tensor:
    """Return the 0-dim host tensor into which torch turns a number in an expression: the widest dtype of its kind."""
    with torch._C._DisableTorchDispatch():
        if isinstance(value, bool):
            return torch.scalar_tensor(value, dtype=torch.bool, device="cpu")
        if isinstance(value, int):
            return torch.scalar_tensor(value, dtype=torch.int64, device="cpu")
        wide = torch.float64 if isinstance(value, float) else torch.complex128
        return torch.scalar_tensor(value, dtype=wide, device="cpu")
