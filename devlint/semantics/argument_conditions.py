"""Parse conditions on a call's arguments, as the tables spell them.

`a` means that the argument is given, `a=VALUE` that it has this value, `!a` that it is absent, `a+b` both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class ArgumentCondition:
    """A condition on one argument: it must be given, have a value, or be absent."""

    name: str
    value: str | None = None
    absent: bool = False


@cache
def parse_conditions(condition: str) -> tuple[ArgumentCondition, ...]:
    """Return the conditions that must all be met, parsed from a text such as `a+!b`."""
    return tuple(map(_condition, condition.split("+")))


def _condition(part: str) -> ArgumentCondition:
    """Return the condition on one argument, parsed from a text such as `!b`."""
    if part.startswith("!"):
        return ArgumentCondition(part[1:], absent=True)
    name, equals, value = part.partition("=")
    return ArgumentCondition(name, value if equals else None)
