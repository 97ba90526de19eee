"""Which conditions are taken to hold together."""

from __future__ import annotations

from devlint.domain.path_conditions import NO_CONDITION, Atom, Literal, PathCondition
from devlint.interpreter.operations.satisfiability import jointly_satisfiable


def _asked(text: str, place: int, *, holds: bool = True) -> PathCondition:
    return frozenset({Literal(Atom(("node", place), text), holds)})


def test_one_condition_holds_with_nothing():
    assert jointly_satisfiable(_asked("args.big", 1), _asked("cuda", 2, holds=False), NO_CONDITION)


def test_opposites_to_the_eye_do_not_hold_together():
    # The same flag, read by two functions: nothing ties one question to the other, but they may well be one.
    assert not jointly_satisfiable(_asked("cuda", 1), _asked("cuda", 2, holds=False), NO_CONDITION)
    assert not jointly_satisfiable(NO_CONDITION, _asked("cuda", 1), _asked("cuda", 2, holds=False))


def test_the_same_twice_holds_together():
    assert jointly_satisfiable(_asked("cuda", 1), _asked("cuda", 2), NO_CONDITION)
