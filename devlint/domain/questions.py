"""Questions about one value: the answers to `x`, `x > 0`, `x == 1`, `x in (1, 2)` asked of the same value go together.

A flag or a count is asked in many ways. Of each group of questions, a few values are tried that stand for all that the
questions tell apart. A count is not negative unless a question asks whether it is, a flag is a bool, and a value is
None or text only where a question mentions None or text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from devlint.domain.record import record

_ORDERS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
}
"""The functions that compute order comparisons, by kind of question."""

_ASKS_FOR_NEGATIVE: Final = frozenset({("LessThan", 0), ("GreaterThanEqual", 0)})
"""The comparisons that only a value that may be negative is asked, by kind and constant."""

_MIRRORED: Final = {
    "LessThan": "GreaterThan",
    "LessThanEqual": "GreaterThanEqual",
    "GreaterThan": "LessThan",
    "GreaterThanEqual": "LessThanEqual",
}
"""The order comparisons with their sides exchanged."""

_OTHER_TEXT: Final = "\0"
"""A string that stands for all strings that no question names."""


@record(frozen=True, slots=True)
class Difference:
    """The difference `left - right` of two named values: a comparison of the two asks how it compares with zero."""

    left: Hashable
    right: Hashable


@record(frozen=True, slots=True)
class Question:
    """A question about the value `subject`: its truth ("true"), or a comparison with a constant.

    `kind` is "true", "Equal", "Is", or the name of an order comparison such as "LessThan". A question "In" asks whether
    the value is one of several constants, a frozenset.
    """

    subject: Hashable
    kind: str
    constant: object = None

    def answer(self, value: object) -> bool:
        """Return the answer for a value; False for values that cannot be ordered, of which Python raises TypeError."""
        match self.kind:
            case "true":
                return bool(value)
            case "Is":
                return value is self.constant
            case "Equal":
                return value == self.constant
            case "In" if isinstance(self.constant, frozenset):
                return value in self.constant
        try:
            return bool(_ORDERS[self.kind](value, self.constant))
        except TypeError:
            return False


def comparison_question(subject: Hashable, kind: str, constant: object) -> Question | None:
    """Return the question that a comparison of a value with a constant asks; None for one that is not followed."""
    known = constant is None or isinstance(constant, (bool, int, float, str))
    return Question(subject, kind, constant) if known and (kind in ("Equal", "Is") or kind in _ORDERS) else None


def mirrored_kind(kind: str) -> str:
    """Return the kind of a comparison with its sides exchanged; `==` and `is` stay what they are."""
    return _MIRRORED.get(kind, kind)


def difference_question(left: Hashable, kind: str, right: Hashable) -> Question | None:
    """Return the question that a comparison of two named values asks; None for one that is not followed.

    Comparisons of the same two values ask about one difference, whichever of the two stands on the left.
    """
    if kind != "Equal" and kind not in _ORDERS:
        return None
    if hash(left) > hash(right):
        left, right, kind = right, left, mirrored_kind(kind)
    return Question(Difference(left, right), kind, 0)


def membership_question(subject: Hashable, constants: frozenset[object]) -> Question | None:
    """Return the question whether a value is one of several constants; None if one of them is not followed."""
    followed = all(one is None or isinstance(one, (bool, int, float, str)) for one in constants)
    return Question(subject, "In", constants) if followed else None


def possible_values(questions: Iterable[Question]) -> list[object]:
    """Return values that stand for all values which questions about one subject tell apart."""
    asked = [*questions]
    constants: list[object] = [one.constant for one in asked if one.kind not in ("true", "In")]
    for one in asked:
        if isinstance(one.constant, frozenset):
            constants += one.constant
    values: list[object] = [False, True]
    numbers = {one for one in constants if isinstance(one, (int, float)) and not isinstance(one, bool)}
    if numbers or not any(isinstance(one, bool) for one in constants):
        may_be_negative = any(one < 0 for one in numbers) or any(
            (one.kind, one.constant) in _ASKS_FOR_NEGATIVE or isinstance(one.subject, Difference) for one in asked
        )
        values += [one for one in _between(numbers) if one >= 0 or may_be_negative]
    if None in constants:
        values.append(None)
    texts = {one for one in constants if isinstance(one, str)}
    return [*values, "", _OTHER_TEXT, *sorted(texts)] if texts else values


def _between(numbers: Iterable[int | float]) -> Iterator[int | float]:
    """Yield numbers below, at, between and above the given ones, and 0, 1 and 2."""
    named = sorted({0, 1, 2, *numbers})
    yield from named
    yield named[0] - 1
    yield named[-1] + 1
    measured = any(isinstance(one, float) for one in numbers)
    for one, other in pairwise(named):
        if measured or other - one > 1:
            yield (one + other) / 2


def decide(asked: Question, answers: Iterable[tuple[Question, bool]]) -> bool | None:
    """Return the answer to a question that follows from answers to questions about the same subject, or None."""
    known = [*answers]
    fitting = [
        value
        for value in possible_values([asked, *(one for one, _ in known)])
        if all(one.answer(value) is answer for one, answer in known)
    ]
    found = {asked.answer(value) for value in fitting}
    return found.pop() if len(found) == 1 else None
