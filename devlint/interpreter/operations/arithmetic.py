"""Which library operations compute with every element of their operands, and do not only move or compare them."""

from __future__ import annotations

from typing import Final

from devlint.semantics.table import Row

_NAMES: Final = frozenset(
    "add sub rsub mul div true_divide pow sigmoid tanh relu gelu silu softmax log_softmax mean var std norm cdist"
    " __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __pow__ __rpow__".split()
)
"""Operations that compute and are known by none of their cells, without the underscore of those in place."""
_RULES: Final = frozenset({"float", "complex", "sum", "double", "real-float"})
"""The rules for the dtype of a result that only operations have that compute it."""
_WRITING: Final = ("index_", "scatter", "put", "masked_scatter", "map", "set_", "allclose", "isclose")
"""How the names of operations begin that need operands of one dtype, and write or compare them."""


def computes(row: Row) -> bool:
    """Return whether an operation, given by its row of the semantics table, computes with every element."""
    name = row.name.rpartition(".")[2]
    if row.match and not name.startswith(_WRITING):
        return True
    rule = row.dtype if isinstance(row.dtype, str) else row.dtype[0]
    is_loss = row.rank == "reduction"
    return is_loss or rule.partition(":")[0] in _RULES or not _NAMES.isdisjoint((name, name.removesuffix("_")))
