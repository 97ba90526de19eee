"""Which operations `torch.autocast` casts, and to which dtype, for each type of device.

The lists are data (`autocast.json`), from the op reference in torch's documentation and torch's own registrations.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

CastPolicy: TypeAlias = Literal["lower", "float32", "promote", "native", "unknown"]
"""What autocast does to an operation.

"lower" casts its floating operands to the low dtype of the region, "float32" to float32, and "promote" to the widest of
them. "native" leaves the operation as it is outside. "unknown" is an operation that may consist of such of all kinds.
"""

_LISTS: Final[tuple[CastPolicy, ...]] = ("lower", "float32", "promote")


@cache
def _data() -> dict[str, Any]:
    """Return the parsed data file."""
    data: dict[str, Any] = json.loads(Path(__file__).with_name("autocast.json").read_bytes())
    return data


def default_low_dtype(device_type: str) -> str | None:
    """Return the dtype of an autocast region that names none; None for a type of device that is not described."""
    described = _data()["types"].get(device_type)
    return None if described is None else described["default"]


@cache
def cast_policy(name: str, device_type: str) -> CastPolicy:
    """Return what autocast does on a type of device to the torch callable with a canonical qualified name."""
    lists = _data()["types"].get(device_type)
    short = _operation(name)
    if lists is not None:
        for policy in _LISTS:
            if short in lists[policy]:
                return policy
    return "native" if _is_in_place(short) or (short in _data()["native"] and lists is not None) else "unknown"


def is_never_cast(name: str) -> bool:
    """Return whether autocast leaves an operation as it is on every type of device, as it does all in-place ones."""
    return _is_in_place(_operation(name))


def _operation(name: str) -> str:
    """Return the name under which the lists have a callable: `linear` for `torch.nn.Linear`, `pow` for an operator."""
    short = name.removeprefix("torch.")
    if short.startswith("nn.") and not short.startswith("nn.functional."):
        known: str = _data()["modules"].get(short.removeprefix("nn."), short)
        return known
    short = short.removeprefix("nn.functional.").removeprefix("Tensor.")
    return _OPERATORS.get(short, short)


def _is_in_place(short: str) -> bool:
    """Return whether an operation writes its result into its first operand."""
    return (short.endswith("_") and not short.startswith("__")) or short in _IN_PLACE_OPERATORS


_OPERATORS: Final = {
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "sub",
    "__rsub__": "sub",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__neg__": "neg",
    "__abs__": "abs",
    "__mod__": "remainder",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__pow__": "pow",
    "__rpow__": "pow",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
}
"""Operations by the methods that Python calls for operators."""
_IN_PLACE_OPERATORS: Final = frozenset(
    "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__ __ilshift__"
    " __irshift__".split()
)
"""The methods that Python calls for in-place operators."""
