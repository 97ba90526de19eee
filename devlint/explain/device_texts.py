"""Texts for devices and path conditions."""

from __future__ import annotations

import re
from typing import Final

from devlint.domain.device import DeviceSymbol
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Basis, PlacementCase
from devlint.explain.place_texts import MAX_QUOTED_LENGTH

NEGATED_OPERATORS: Final = {"is": "is not", "is not": "is", "==": "!=", "!=": "=="}
"""The negation of each comparison operator that a condition's text may contain."""


NEGATED_COMPARISON: Final = re.compile(r"\bnot (\S+) (is not|is|==|!=) (\S+)")
"""A negated comparison, `not x is None`, which reads better as `x is not None`."""


def is_module_placement(leaf: PlacementCase) -> bool:
    """Return whether a tensor is on the device of its module, which the module's user decides."""
    return isinstance(leaf.device, DeviceSymbol) and leaf.device.text == "the module"


def device_text(leaf: PlacementCase) -> str:
    """Return a phrase for the device of a placement: `cpu`, `cuda:1`, `the caller's device`, `the module's device`."""
    device = leaf.device
    if not isinstance(device, DeviceSymbol):
        return str(device)
    if is_module_placement(leaf):
        return "the module's device"
    return "the caller's device" if leaf.basis is Basis.CALLER else str(device)


def condition_text(path_condition: PathCondition) -> str:
    """Return a path condition as the end of a sentence: ` when torch.cuda.is_available()`; empty for no condition."""
    if not path_condition:
        return ""
    return " when " + " and ".join(sorted(_literal_text(str(test)) for test in path_condition))


def _literal_text(text: str) -> str:
    """Return the text of one condition with its negated comparisons rewritten, shortened to twice the quoted length."""
    text = NEGATED_COMPARISON.sub(lambda match: f"{match[1]} {NEGATED_OPERATORS[match[2]]} {match[3]}", text)
    return text if len(text) <= 2 * MAX_QUOTED_LENGTH else f"{text[: 2 * MAX_QUOTED_LENGTH - 3].rstrip()}..."
