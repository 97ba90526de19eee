"""Tests of the search for a whole word, against the pattern that it stands for."""

from __future__ import annotations

import re

import pytest

from devlint.syntax.text_words import has_word, is_used

TEXTS = (
    "data = 1",
    "metadata.data",
    "metadata dataset _data data_ data1 1data",
    "x.data",
    "'data'",
    "datadata",
    "donnéedata datané",
    "data",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_agrees_with_the_pattern(text: str) -> None:
    assert has_word(text, "data") == bool(re.search(r"\bdata\b", text))


@pytest.mark.parametrize(
    "text",
    ["data(1)", "data (1)", "x = data.shape", "data\n[0]", "f(data)", "metadata.shape", "data_.shape", "data, data.x"],
)
def test_a_use_agrees_with_the_pattern(text: str) -> None:
    assert is_used(text, "data") == bool(re.search(r"\bdata\s*[(.\[]", text))
