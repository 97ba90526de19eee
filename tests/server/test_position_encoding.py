from __future__ import annotations

import pytest
from lsprotocol import types

from devlint.diagnostic import Position
from devlint.server.position_encoding import PositionConverter

TEXT = "a = 1\r\n😀é = 'e\u0301'\rplain\x0c\u2028still the third\n\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_character_there_and_back(encoding: str):
    positions = PositionConverter(TEXT, encoding)
    for offset, character in enumerate(TEXT):
        if character == "\n" and TEXT[offset - 1] == "\r":
            continue  # between the two halves of a line end there is no position
        position = positions.position(offset)
        assert positions.offset(position) == offset
        place = positions.lines.position(offset)
        assert positions.offset_of(Position(place.row, place.column)) == offset


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4 + 2), ("utf-16", 2 + 1), ("utf-32", 2)])
def test_code_units(encoding: str, width: int):
    assert PositionConverter(TEXT, encoding).position(TEXT.index(" = 'e")) == types.Position(1, width)


def test_lines_are_the_protocols():
    assert [PositionConverter(TEXT).position(TEXT.index(word)).line for word in ("a", "plain", "still")] == [0, 2, 2]


@pytest.mark.parametrize(
    ("line", "character", "before"), [(0, 99, "\r\n"), (2, 10**6, "\n"), (99, 0, ""), (0, 0, TEXT), (4, 5, "")]
)
def test_positions_that_do_not_exist(line: int, character: int, before: str):
    offset = PositionConverter(TEXT).offset(types.Position(line, character))
    assert TEXT[offset:].startswith(before)
    assert before or offset == len(TEXT)
