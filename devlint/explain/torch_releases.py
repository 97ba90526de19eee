"""The first releases of torch that refuse an operation, where earlier ones computed it."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype, is_floating
from devlint.domain.placement import history

_DIVIDES_TRULY: Final = (1, 7)
"""The first release in which `/` makes floats of integers. Source: release notes of torch 1.7, `torch.div`."""
_MASKS_ARE_BOOL: Final = (2, 1)
"""The first release in which masks of uint8 are refused. Source: release notes of torch 2.1, `masked_fill`."""


def refused_since(dtype: Dtype, accepted: tuple[str, ...]) -> tuple[int, ...] | None:
    """Return the first release of torch that refuses an index or mask of a dtype; None where all releases do."""
    if dtype.name == "uint8" and "bool" in accepted:
        return _MASKS_ARE_BOOL
    made = (step.place.node for step in history(dtype.made or dtype.provenance))
    divided = any(isinstance(one, cst.BinaryOperation) and isinstance(one.operator, cst.Divide) for one in made)
    return _DIVIDES_TRULY if is_floating(dtype.name) and divided else None
