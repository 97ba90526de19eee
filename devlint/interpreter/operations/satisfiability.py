"""Joint satisfiability of path conditions: whether two tensors can be on given devices in one run of the program."""

from __future__ import annotations

from devlint.domain.path_conditions import Atom, Conjunction, Literal, PathCondition
from devlint.domain.value import Const

NO_CHOICE_OF_DEVICE = frozenset({"filled", "given"})
"""Kinds of conditions on whether there is data to compute with; they never decide on which device it is."""


def jointly_satisfiable(path: PathCondition, left: PathCondition, right: PathCondition) -> bool:
    """Return whether a path exists on which the conditions of two tensors' devices hold together.

    When each side depends on a condition of its own, the answer is usually False: real programs set both from one fact.
    The sides do hold together if the conditions of one include those of the other, or if all hold in a run of the
    program without command-line options on a machine with an accelerator.
    """
    if any(_have_opposite_texts(one, other) for one in left | right for other in path | left | right):
        return False
    left, right = _device_conditions(left), _device_conditions(right)
    if not left or not right or left <= right or right <= left:
        return True
    return all(_holds_by_default(test) for test in left | right) and not any(
        _holds_by_default(test) is False for test in path
    )


def _have_opposite_texts(one: Literal, other: Literal) -> bool:
    """Return whether two conditions have the same source text and opposite outcomes, at different source locations.

    Two such conditions are likely to be the same test, so that they never hold together.
    """
    if one.holds is other.holds or not (isinstance(one.formula, Atom) and isinstance(other.formula, Atom)):
        return False
    return str(one.formula) == str(other.formula)


def _device_conditions(path_condition: PathCondition) -> PathCondition:
    """Return the conditions that may decide on a device.

    These are all but the conditions that only test whether there is data to compute with.
    """
    return frozenset(test for test in path_condition if not _is_about_presence(test))


def _is_about_presence(test: Literal) -> bool:
    """Return whether a condition only tests whether there is data, as `x is not None` does.

    Such a condition does not decide on a device.
    """
    match test.formula:
        case Atom(key=(kind, *_)):
            return kind in NO_CHOICE_OF_DEVICE
    return False


def _holds_by_default(test: Literal) -> bool | None:
    """Return whether a condition holds when the program runs without command-line options and with an accelerator.

    None when these two facts do not decide it.
    """
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
