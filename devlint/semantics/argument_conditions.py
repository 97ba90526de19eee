"""Conditions on a call's arguments, as the tables spell them: `a` is given, `a=VALUE`, `!a` is not, `a+b` for both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class ArgumentCondition:
    """What a condition asks of one argument: to be given, to have a value, or to be absent."""

    name: str
    value: str | None = None
    absent: bool = False


@cache
def parse_conditions(condition: str) -> tuple[ArgumentCondition, ...]:
    """The demands that must all be met."""
    return tuple(map(_demand, condition.split("+")))


def _demand(part: str) -> ArgumentCondition:
    if part.startswith("!"):
        return ArgumentCondition(part[1:], absent=True)
    name, equals, value = part.partition("=")
    return ArgumentCondition(name, value if equals else None)
