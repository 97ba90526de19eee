"""Display names of library operations, for messages."""

from __future__ import annotations

from typing import Final


def short_name(name: str) -> str:
    """Return the display name of an operation: `torch.cat`, `F.linear`, `.sum()`, `+`."""
    if name.startswith("torch.Tensor.__"):
        return OPERATOR_SYMBOLS.get(name.removeprefix("torch.Tensor."), name.removeprefix("torch.Tensor."))
    if name.startswith("torch.Tensor."):
        return f".{name.removeprefix('torch.Tensor.')}()"
    return name.replace("torch.nn.functional.", "F.")


OPERATOR_SYMBOLS: Final = {
    "__add__": "+",
    "__sub__": "-",
    "__mul__": "*",
    "__truediv__": "/",
    "__floordiv__": "//",
    "__mod__": "%",
    "__pow__": "**",
    "__matmul__": "@",
    "__and__": "&",
    "__or__": "|",
    "__xor__": "^",
    "__lshift__": "<<",
    "__rshift__": ">>",
    "__eq__": "==",
    "__ne__": "!=",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
    "__iadd__": "+=",
    "__isub__": "-=",
    "__imul__": "*=",
    "__itruediv__": "/=",
    "__ifloordiv__": "//=",
    "__imod__": "%=",
    "__ipow__": "**=",
    "__iand__": "&=",
    "__ior__": "|=",
    "__ixor__": "^=",
    "__neg__": "-",
    "__invert__": "~",
    "__imatmul__": "@=",
}
"""The operator symbols of Python's special methods."""
