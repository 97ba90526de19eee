"""Comparison of the numbers that a program printed on two devices."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DEVICE_SUFFIX = re.compile(r",\s*device='\w+(:\d+)?'")
"""What the text of a tensor says of its device; it is left out for a tensor on the host."""
_DEVICE_NAME = re.compile(r"\b(cpu|cuda|xpu|mps|npu)(:\d+)?\b")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b", re.IGNORECASE)

Line = tuple[tuple[str, ...], tuple[str | None, ...]]
"""The texts of a printed line between its numbers, and its numbers; None is a number that varies from run to run."""


def numbered_lines(printed: str) -> list[Line]:
    """Return the lines of a program's output that hold numbers. Names of devices are made equal."""
    found: list[Line] = []
    for line in printed.splitlines():
        text = _DEVICE_NAME.sub("<device>", _DEVICE_SUFFIX.sub("", line))
        numbers = tuple(_NUMBER.findall(text))
        if numbers:
            found.append((tuple(_NUMBER.split(text)), numbers))
    return found


def stable_lines(first: Sequence[Line], second: Sequence[Line]) -> list[Line]:
    """Return the lines of the first of two runs on one device, without what the second run printed otherwise.

    A number that differs is None, and a line whose text differs is left out. Of runs with different numbers of lines
    only those lines are kept that both have.
    """
    if len(first) != len(second):
        return [line for line in first if line in second]
    return [
        (texts, tuple(one if one == two else None for one, two in zip(numbers, others, strict=True)))
        for (texts, numbers), (other_texts, others) in zip(first, second, strict=True)
        if texts == other_texts
    ]


def first_missing(expected: Sequence[Line], printed: Sequence[Line]) -> Line | None:
    """Return the first of the expected lines that was not printed, in their order; None if all were.

    Lines that were printed in addition do not count: a program may tell more of an accelerator than of the host.
    """
    rest = iter(printed)
    for line in expected:
        if not any(_agrees(line, other) for other in rest):
            return line
    return None


def _agrees(expected: Line, printed: Line) -> bool:
    """Return whether a printed line has the text and the numbers of an expected one."""
    texts, numbers = expected
    return texts == printed[0] and all(one is None or one == two for one, two in zip(numbers, printed[1], strict=True))


def line_text(line: Line) -> str:
    """Return a line as text, with `...` for the numbers that vary from run to run."""
    texts, numbers = line
    return texts[0] + "".join(f"{number or '...'}{text}" for number, text in zip(numbers, texts[1:], strict=True))
