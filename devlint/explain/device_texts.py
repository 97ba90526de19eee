"""Phrases for devices and for path conditions, as the messages of findings contain them."""

from __future__ import annotations

import ast
import re
from typing import Final

from devlint.domain.device import DeviceSymbol
from devlint.domain.path_conditions import Literal, PathCondition, is_raised
from devlint.domain.placement import Basis, PlacementCase
from devlint.explain.cut_texts import cut_at_end
from devlint.explain.place_texts import MAX_QUOTED_LENGTH

BACKEND_NAMES: Final = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU"}
"""The backends by the type of their devices, as messages name them."""


NEGATED_OPERATORS: Final = {"is": "is not", "is not": "is", "==": "!=", "!=": "=="}
"""The negation of each comparison operator that a condition's text may contain."""


NEGATED_COMPARISON: Final = re.compile(r"\bnot (\S+) (is not|is|==|!=) (\S+)")
"""A negated comparison, `not x is None`, which reads better as `x is not None`."""


LONGEST_CONDITION: Final = 2 * MAX_QUOTED_LENGTH
"""The number of characters of the tests that a message names of a path condition; the first one is always named."""


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
    """Return a path condition as the end of a sentence: " when `torch.cuda.is_available()`".

    Empty for an empty condition. Of a long condition, only the first tests are told, and the others counted.
    """
    tests = [quoted_if_code(text) for text in sorted({literal_text(test) for test in path_condition})]
    told = [test for number, test in enumerate(tests) if sum(map(len, tests[: number + 1])) <= LONGEST_CONDITION]
    told = told or tests[:1]
    left = len(tests) - len(told)
    others = [f"{left} more condition{'s' if left > 1 else ''}"] if left else []
    return f" when {' and '.join((*told, *others))}" if tests else ""


def quoted_if_code(text: str) -> str:
    """Return the text of a condition in back quotes; a text that is no code, such as "--gpu is not given", as it is."""
    try:
        ast.parse(text.removesuffix("..."), mode="eval")
    except SyntaxError:
        return text if not text.endswith("...") else f"`{text}`"
    return f"`{text}`"


def literal_text(test: Literal) -> str:
    """Return a message text for one literal of a path condition: `not x is None` is rewritten as `x is not None`.

    A text longer than twice the length that messages quote is cut at its end.
    """
    if is_raised(test) and not test.holds:
        return "nothing in the body of `try` raises"
    text = NEGATED_COMPARISON.sub(lambda match: f"{match[1]} {NEGATED_OPERATORS[match[2]]} {match[3]}", str(test))
    return cut_at_end(text, 2 * MAX_QUOTED_LENGTH)
