"""Which conditions are taken to hold together."""

from __future__ import annotations

from collections.abc import Hashable

from devlint.domain.path_conditions import NO_CONDITION, Atom, Literal, PathCondition, WrittenText
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


class _Text(WrittenText):
    def __init__(self, words: str, structure: str, text: str | None = None) -> None:
        self._words, self._structure, self._text = words, structure, text

    def words(self) -> tuple[str, ...]:
        return tuple(self._words.split())

    def structure(self) -> Hashable:
        return self._structure

    def __str__(self) -> str:
        assert self._text is not None, "no text is needed"
        return self._text


def _written(text: _Text, place: int, *, holds: bool = True) -> PathCondition:
    return frozenset({Literal(Atom(("node", place), text), holds)})


def test_the_same_code_in_two_places_is_one_condition():
    asked = _written(_Text("a b", "a+b"), 1)
    assert not jointly_satisfiable(asked, _written(_Text("a b", "a+b"), 2, holds=False), NO_CONDITION)
    assert jointly_satisfiable(asked, _written(_Text("a b", "a-b"), 2, holds=False), NO_CONDITION)
    assert jointly_satisfiable(asked, _written(_Text("c", "c"), 3), NO_CONDITION)


def test_code_that_has_the_text_of_a_condition_of_devlints_own_is_that_condition():
    own = _asked("use a", 1)
    assert not jointly_satisfiable(own, _written(_Text("a", "a", "use a"), 2, holds=False), NO_CONDITION)
    assert jointly_satisfiable(own, _written(_Text("a", "a", "a"), 2, holds=False), NO_CONDITION)
    assert jointly_satisfiable(own, _written(_Text("b", "b"), 2, holds=False), NO_CONDITION)
