"""TODO"""

from __future__ import annotations

from devlint.domain.path_conditions import Atom, Conjunction, Literal, PathCondition
from devlint.domain.value import Const

NO_CHOICE_OF_DEVICE = frozenset({"filled", "given"})
"""Conditions that say whether there is something to compute with, and never where it is."""


def jointly_satisfiable(path: PathCondition, left: PathCondition, right: PathCondition) -> bool:
    """Whether a path exists on which both sets of conditions hold.

    When each side depends on a condition of its own, nothing says that the two can differ: real programs set both from
    one fact. They do hold together if one's are the other's too, or in the program as it is run with no options, where
    there is an accelerator.
    """
    if any(_reads_opposite(one, other) for one in left | right for other in path | left | right):
        return False
    left, right = _choosing(left), _choosing(right)
    if not left or not right or left <= right or right <= left:
        return True
    return all(_holds_by_default(test) for test in left | right) and not any(
        _holds_by_default(test) is False for test in path
    )


def _reads_opposite(one: Literal, other: Literal) -> bool:
    """Whether two conditions that were asked apart are each other's opposite to the eye: they may well be one."""
    if one.holds is other.holds or not (isinstance(one.formula, Atom) and isinstance(other.formula, Atom)):
        return False
    return str(one.formula) == str(other.formula)


def _choosing(path_condition: PathCondition) -> PathCondition:
    """The conditions that may decide on a device."""
    return frozenset(test for test in path_condition if not _is_of_presence(test))


def _is_of_presence(test: Literal) -> bool:
    match test.formula:
        case Atom(key=(kind, *_)):
            return kind in NO_CHOICE_OF_DEVICE
    return False


def _holds_by_default(test: Literal) -> bool | None:
    """Whether the test holds when no option is given and there is an accelerator; None when that does not decide it."""
    match test.formula:
        case Conjunction(tests=tests):
            answers = {_holds_by_default(one) for one in tests}
            known = False if False in answers else None if None in answers else True
        case Atom(key=("available" | "default", _)):
            known = True
        case Atom(key=("true", ("option", _, _, Const(value=default)))):
            known = bool(default)
        case Atom(key=("none", ("option", _, _, Const(value=default)))):
            known = default is None
        case Atom(key=("compare", "Equal", ("option", _, _, Const() as default), Const() as asked)):
            known = default == asked
        case _:
            known = None
    return known if test.holds or known is None else not known
