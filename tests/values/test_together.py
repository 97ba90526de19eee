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
    def __init__(self, words: str, source: int, text: str | None = None) -> None:
        self._words, self._source, self._text = words, source, text

    def words(self) -> tuple[str, ...]:
        return tuple(self._words.split())

    def source(self) -> Hashable:
        return self._source

    def __str__(self) -> str:
        assert self._text is not None, "no text is needed"
        return self._text


def _written(text: _Text, place: int, *, holds: bool = True) -> PathCondition:
    return frozenset({Literal(Atom(("node", place), text), holds)})


def test_one_place_in_the_code_is_one_condition_without_its_text():
    asked, opposite = _written(_Text("a b", 1), 1), _written(_Text("a b", 1), 2, holds=False)
    assert not jointly_satisfiable(NO_CONDITION, asked, opposite)
    assert jointly_satisfiable(asked, _written(_Text("c", 2), 3), NO_CONDITION)


def test_two_places_are_one_condition_if_they_have_one_text():
    asked = _written(_Text("a b", 1, "a + b"), 1)
    assert not jointly_satisfiable(asked, _written(_Text("a b", 2, "a + b"), 2, holds=False), NO_CONDITION)
    assert jointly_satisfiable(asked, _written(_Text("a b", 2, "a - b"), 2, holds=False), NO_CONDITION)


def test_no_text_is_made_of_lookalikes_that_decide_nothing():
    alike = _written(_Text("a", 1), 1) | _written(_Text("a", 2), 2)
    assert jointly_satisfiable(alike, _written(_Text("c", 3), 3), NO_CONDITION)
