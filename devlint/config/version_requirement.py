"""Check of devlint's version against the setting `required-version`, such as `>=0.1,<2`."""

from __future__ import annotations

import operator
import re

_COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.eq,
}
_CLAUSE = re.compile(r"\s*(==|!=|>=|<=|>|<|)\s*(\d+(?:\.\d+)*)\s*")


def version_satisfies(version: str, required: str) -> bool:
    """Return whether a version such as `0.2.1` meets every clause of a requirement such as `>=0.1,<2`.

    Raises ValueError for a clause that cannot be read.
    """
    return all(_meets(_release(version), clause) for clause in required.split(","))


def _meets(release: tuple[int, ...], clause: str) -> bool:
    """Return whether a version, given as a tuple of numbers, meets one clause of a requirement, such as `>=0.1`.

    Raises ValueError for a clause that cannot be read.
    """
    found = _CLAUSE.fullmatch(clause)
    if found is None:
        raise ValueError(f'expected a version such as ">=0.1,<2", got "{clause}"')
    wanted = _release(found[2])
    longest = max(len(release), len(wanted))
    return bool(_COMPARISONS[found[1]](_padded(release, longest), _padded(wanted, longest)))


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, such as (0, 1) for "0.1.dev3". The tuple is empty if there are none."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else ()


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return the numbers of a version with zeros appended, so that there are `length` numbers."""
    return release + (0,) * (length - len(release))
