"""Which conditions are taken to hold together."""

from __future__ import annotations

from devlint.domain.path_conditions import NO_FACTS, Atom, Facts, Test
from devlint.interpreter.operations.satisfiability import can_hold_together


def _asked(text: str, place: int, *, holds: bool = True) -> Facts:
    return frozenset({Test(Atom(("node", place), text), holds)})


def test_one_condition_holds_with_nothing():
    assert can_hold_together(_asked("args.big", 1), _asked("cuda", 2, holds=False), NO_FACTS)


def test_opposites_to_the_eye_do_not_hold_together():
    # The same flag, read by two functions: nothing ties one question to the other, but they may well be one.
    assert not can_hold_together(_asked("cuda", 1), _asked("cuda", 2, holds=False), NO_FACTS)
    assert not can_hold_together(NO_FACTS, _asked("cuda", 1), _asked("cuda", 2, holds=False))


def test_the_same_twice_holds_together():
    assert can_hold_together(_asked("cuda", 1), _asked("cuda", 2), NO_FACTS)
