from __future__ import annotations

import random

import pytest

from devlint.syntax.incremental_index import Change, reindex_source
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import Source, SourceError

PROGRAM = '''"""What it is."""
import os

@decorated
def first(x):
    """Doc."""
    if x:
        return 1

    return 2


# between
class Second(Base):
    def method(self):
        return (
            1,
        )
value = 1; other = 2
if value:
    inside = 3
else:
    inside = 4
text = """
two lines
"""
'''

PIECES = [
    "\n",
    "x = 1\n",
    "    y = 2\n",
    "else:\n",
    '"""',
    "(",
    ")",
    "@d\n",
    "\\",
    "def f(): pass\n",
    " ",
    "#",
    "\r",
    "é😀",
    "\f",
]


def _index(text: str) -> FileIndex:
    return index_source(Source.of(text))


def _facts(index: FileIndex) -> list[object]:
    return [
        index.docstring,
        index.lines,
        *((one.facts, one.first_row, one.last_row, one.start, one.end, one.text) for one in index.statements),
    ]


def test_what_has_not_changed_stays_the_same_statement():
    before = _index(PROGRAM)
    known = {one.name: one for one in before.statements if one.name}
    tree = known["Second"].tree
    after = reindex_source(before, Source.of(PROGRAM.replace("return 2", "y = 1\n    return 3")))
    assert after.definitions["Second"] is known["Second"]
    assert after.definitions["Second"].tree is tree
    assert after.definitions["first"] is not known["first"]
    assert _facts(after) == _facts(_index(after.source.text))


def test_what_does_not_parse_changes_nothing():
    before = _index(PROGRAM)
    facts = _facts(before)
    with pytest.raises(SourceError):
        reindex_source(before, Source.of(PROGRAM.replace("return 2", "return (")))
    assert _facts(before) == facts


@pytest.mark.parametrize("seed", range(40))
def test_any_edits_give_the_index_of_the_text(seed: int):
    chance = random.Random(seed)
    index, text = _index(PROGRAM), PROGRAM
    for _ in range(30):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 5, 40]))
        edited = text[:start] + chance.choice([*PIECES, ""]) + text[end:]
        try:
            expected = _facts(_index(edited))
        except SourceError:
            with pytest.raises(SourceError):
                reindex_source(index, Source.of(edited))
            continue
        index, text = reindex_source(index, Source.of(edited)), edited
        assert _facts(index) == expected


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("abc", "abc", Change(3, 3, 3)),
        ("abc", "aXc", Change(1, 2, 2)),
        ("aa", "aaa", Change(2, 2, 3)),
        ("", "x", Change(0, 0, 1)),
        ("abab", "ab", Change(2, 4, 2)),
    ],
)
def test_the_smallest_change(old: str, new: str, change: Change):
    assert Change.between(old, new) == change
