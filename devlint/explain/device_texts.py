"""Devices and conditions in words."""

from __future__ import annotations

import re
from typing import Final

from devlint.domain.device import DeviceSymbol
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Basis, PlacementCase
from devlint.explain.places import LONGEST

OPPOSITES: Final = {"is": "is not", "is not": "is", "==": "!=", "!=": "=="}


NEGATED: Final = re.compile(r"\bnot (\S+) (is not|is|==|!=) (\S+)")


def is_module_placement(leaf: PlacementCase) -> bool:
    """Whether it lies where a module is, which its user decides."""
    return isinstance(leaf.device, DeviceSymbol) and leaf.device.text == "the module"


def device_text(leaf: PlacementCase) -> str:
    """Where a leaf lies: `cpu`, `cuda:1`, `the caller's device`, `the module's device`."""
    device = leaf.device
    if not isinstance(device, DeviceSymbol):
        return str(device)
    if is_module_placement(leaf):
        return "the module's device"
    return "the caller's device" if leaf.basis is Basis.CALLER else str(device)


def condition_text(path_condition: PathCondition) -> str:
    """The conditions a finding depends on, to be put behind a sentence: ` when torch.cuda.is_available()`."""
    if not path_condition:
        return ""
    return " when " + " and ".join(sorted(_condition(str(test)) for test in path_condition))


def _condition(text: str) -> str:
    text = NEGATED.sub(lambda match: f"{match[1]} {OPPOSITES[match[2]]} {match[3]}", text)
    return text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST - 3].rstrip()}..."
