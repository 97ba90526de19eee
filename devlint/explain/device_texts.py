"""Phrases for devices and for path conditions, as the messages of findings contain them."""

from __future__ import annotations

import re
from typing import Final

from devlint.domain.device import DeviceSymbol
from devlint.domain.path_conditions import Literal, PathCondition
from devlint.domain.placement import Basis, PlacementCase
from devlint.explain.place_texts import MAX_QUOTED_LENGTH

NEGATED_OPERATORS: Final = {"is": "is not", "is not": "is", "==": "!=", "!=": "=="}
"""The negation of each comparison operator that a condition's text may contain."""


NEGATED_COMPARISON: Final = re.compile(r"\bnot (\S+) (is not|is|==|!=) (\S+)")
"""A negated comparison, `not x is None`, which reads better as `x is not None`."""


def is_module_placement(leaf: PlacementCase) -> bool:
    """Return whether a tensor is on the device of the module that holds it, which the user of the module chooses."""
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
    """Return a path condition as the end of a sentence: ` when torch.cuda.is_available()`.

    Empty for an empty condition.
    """
    if not path_condition:
        return ""
    return " when " + " and ".join(sorted(literal_text(test) for test in path_condition))


def literal_text(test: Literal) -> str:
    """Return a message text for one literal of a path condition: `not x is None` is rewritten as `x is not None`.

    A text longer than twice the length that messages quote is cut at its end.
    """
    text = NEGATED_COMPARISON.sub(lambda match: f"{match[1]} {NEGATED_OPERATORS[match[2]]} {match[3]}", str(test))
    return text if len(text) <= 2 * MAX_QUOTED_LENGTH else f"{text[: 2 * MAX_QUOTED_LENGTH - 3].rstrip()}..."
