from __future__ import annotations

import random

import pytest

from devlint.server.error_recovery import RecoveredText
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
    recovered = RecoveredText(PROGRAM, Source.of)
    broken = PROGRAM.replace("x + 1", "(x + ")
    recovered.update(broken)
    assert recovered.has_unparsable_spans
    assert recovered.analysed == PROGRAM
    twice = broken.replace("return first(x)", "return first(x")
    recovered.update(twice)
    assert set(recovered.index.definitions) == {"first", "second", "third"}
    # Between them somebody goes on writing what does parse.
    recovered.update(twice.replace("return x\n", "z = x\n    return z\n"))
    assert "z = x" in recovered.analysed
    assert "x + 1" in recovered.analysed
    assert recovered.editor_offset(recovered.analysed.index("z = x")) == recovered.text.index("z = x")
    assert recovered.editor_offset(recovered.analysed.index("third")) == recovered.text.index("third")
    assert recovered.editor_offset(recovered.analysed.index("first(x)\n")) == recovered.text.index("first(x\n")
    assert recovered.editor_offset(recovered.analysed.index("1\n")) is None
    recovered.update(PROGRAM)
    assert not recovered.has_unparsable_spans
    assert recovered.error is None


@pytest.mark.parametrize("seed", range(30))
def test_any_edits_end_well(seed: int):
    chance = random.Random(seed)
    recovered, text = RecoveredText(PROGRAM, Source.of), PROGRAM
    for _ in range(40):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 3, 30]))
        text = (
            text[:start]
            + chance.choice(["(", ")", "\n", "x", "    z = 1\n", '"""', "", "\ndef g(): pass\n"])
            + text[end:]
        )
        recovered.update(text)
        analysed = recovered.analysed
        assert recovered.index.source.text == analysed
        for offset, character in enumerate(analysed):
            shown = recovered.editor_offset(offset)
            assert shown is None or text[shown] == character
    recovered.update(PROGRAM)
    assert recovered.analysed == PROGRAM
