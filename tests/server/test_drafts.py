from __future__ import annotations

import random

import pytest

from devlint.server.drafts import Draft
from devlint.syntax.source import Source

PROGRAM = """import torch

def first(x):
    y = x + 1
    return y

def second(x):
    return x

def third(x):
    return first(x)
"""


def test_two_places_that_do_not_parse():
    draft = Draft(PROGRAM, Source.of)
    broken = PROGRAM.replace("x + 1", "(x + ")
    draft.update(broken)
    assert draft.is_patched
    assert draft.kept == PROGRAM
    twice = broken.replace("return first(x)", "return first(x")
    draft.update(twice)
    assert set(draft.index.definitions) == {"first", "second", "third"}
    # Between them somebody goes on writing what does parse.
    draft.update(twice.replace("return x\n", "z = x\n    return z\n"))
    assert "z = x" in draft.kept
    assert "x + 1" in draft.kept
    assert draft.shown(draft.kept.index("z = x")) == draft.text.index("z = x")
    assert draft.shown(draft.kept.index("third")) == draft.text.index("third")
    assert draft.shown(draft.kept.index("first(x)\n")) == draft.text.index("first(x\n")
    assert draft.shown(draft.kept.index("1\n")) is None
    draft.update(PROGRAM)
    assert not draft.is_patched
    assert draft.error is None


@pytest.mark.parametrize("seed", range(30))
def test_any_edits_end_well(seed: int):
    chance = random.Random(seed)
    draft, text = Draft(PROGRAM, Source.of), PROGRAM
    for _ in range(40):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 3, 30]))
        text = (
            text[:start]
            + chance.choice(["(", ")", "\n", "x", "    z = 1\n", '"""', "", "\ndef g(): pass\n"])
            + text[end:]
        )
        draft.update(text)
        kept = draft.kept
        assert draft.index.source.text == kept
        for offset, character in enumerate(kept):
            shown = draft.shown(offset)
            assert shown is None or text[shown] == character
    draft.update(PROGRAM)
    assert draft.kept == PROGRAM
