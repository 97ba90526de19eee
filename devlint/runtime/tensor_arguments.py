"""Helper that finds the tensors among the arguments of an operator's call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """Return the tensors among some values, including those inside lists and tuples."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(tensors_in(value))
    return found
