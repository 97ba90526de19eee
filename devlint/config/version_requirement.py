"""Whether a version is one of those that `required-version` names."""

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
    """Whether the version meets every clause, such as those of `>=0.1,<2`; `ValueError` for what is no clause."""
    return all(_meets(_release(version), clause) for clause in required.split(","))


def _meets(release: tuple[int, ...], clause: str) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if found is None:
        raise ValueError(f'expected a version such as ">=0.1,<2", got "{clause}"')
    wanted = _release(found[2])
    longest = max(len(release), len(wanted))
    return bool(_COMPARISONS[found[1]](_padded(release, longest), _padded(wanted, longest)))


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version; what marks it as a draft is left aside."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else ()


def _padded(release: tuple[int, ...], length: int) -> tuple[int, ...]:
    return release + (0,) * (length - len(release))
