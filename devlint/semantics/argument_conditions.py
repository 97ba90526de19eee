"""Parser of the conditions on a call's arguments that devlint's semantics tables contain.

`a` means that the argument `a` is given, `a=VALUE` that it has this value, `!a` that it is absent. `a+b` means that
both conditions hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class ArgumentCondition:
    """A condition on one argument of a call: it is given, it is given with a certain value, or it is absent."""

    name: str
    value: str | None = None
    absent: bool = False


@cache
def parse_conditions(condition: str) -> tuple[ArgumentCondition, ...]:
    """Return the conditions on a call's arguments, parsed from a text such as `a+!b`. A call must meet all of them."""
    return tuple(map(_condition, condition.split("+")))


def _condition(part: str) -> ArgumentCondition:
    """Return the condition on one argument of a call, parsed from a text such as `a`, `a=VALUE` or `!a`."""
    if part.startswith("!"):
        return ArgumentCondition(part[1:], absent=True)
    name, equals, value = part.partition("=")
    return ArgumentCondition(name, value if equals else None)
