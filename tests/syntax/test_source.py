"""Bytes become text as Python would read them, and every way to fail names its cause and place."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.syntax.source import Source, SourceError
from devlint.syntax.source_reading import decode_source, read_source


def failure(data: bytes) -> tuple[str, int, int]:
    with pytest.raises(SourceError) as caught:
        decode_source(data, "m.py")
    assert "\n" not in caught.value.message
    return caught.value.message, caught.value.row, caught.value.column


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        ("é = 1\n".encode(), "utf-8", "é = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'\n", "cp1252", None),
        ("# coding: utf-8\n'😀'".encode(), "utf-8", "# coding: utf-8\n'😀'"),
        (b"# coding: latin-1\r'\xe9'\r", "iso-8859-1", "# coding: latin-1\r'é'\r"),
        (b"", "utf-8", ""),
    ],
)
def test_encoding_is_the_declared_one_or_utf8(data: bytes, encoding: str, text: str | None) -> None:
    source = decode_source(data, "m.py")
    assert source.encoding == encoding
    assert source.text == (data.decode(encoding) if text is None else text)


def test_a_declaration_after_the_second_line_counts_for_nothing() -> None:
    message, row, column = failure(b"#\n#\n# coding: latin-1\n'\xe9'\n")
    assert (row, column) == (4, 2)
    assert "0xe9" in message


def test_the_byte_order_mark_is_no_character_of_the_text() -> None:
    source = decode_source(b"\xef\xbb\xbfx = 1\n", "m.py")
    assert (source.text, source.has_bom, source.encoding) == ("x = 1\n", True, "utf-8")
    assert Source.of("\ufeffx = 1\n").text == "x = 1\n"


@pytest.mark.parametrize(("text", "newline"), [("a\r\nb\n", "\r\n"), ("a\rb", "\r"), ("a\n", "\n"), ("a", "\n")])
def test_newlines_stay_as_they_are(text: str, newline: str) -> None:
    source = decode_source(text.encode(), "m.py")
    assert (source.text, source.newline) == (text, newline)


def test_undeclared_bytes_that_are_not_utf8() -> None:
    message, row, column = failure("x = 'é'\n".encode() + b"y = 'a\xe9'\n")
    assert (row, column) == (2, 7)
    assert message == "byte 0xe9 is not valid utf-8"


def test_undeclared_bytes_that_are_not_utf8_on_the_first_line() -> None:
    message, row, column = failure(b"x = '\xe9'\n")
    assert (row, column) == (1, 6)
    assert "declares no other encoding" in message


def test_bytes_that_the_declared_encoding_does_not_have() -> None:
    message, row, column = failure(b"# coding: ascii\nx = '\xe9'\n")
    assert (row, column) == (2, 6)
    assert message == "byte 0xe9 is not valid ascii"


@pytest.mark.parametrize(
    ("data", "row"), [(b"# coding: klingon\n", 1), (b"#!python\n# coding: klingon\n", 2), (b"# coding: rot13\n", 1)]
)
def test_an_encoding_that_python_does_not_have(data: bytes, row: int) -> None:
    message, found, _ = failure(data)
    assert found == row
    assert "klingon" in message or "rot13" in message


def test_a_byte_order_mark_with_another_declaration() -> None:
    assert "utf-8" in failure(b"\xef\xbb\xbf# coding: latin-1\n")[0]


@pytest.mark.parametrize("data", [b"x = 1\ny\0 = 2\n", "x = 1\n".encode("utf-16")])
def test_null_bytes(data: bytes) -> None:
    assert "null byte" in failure(data)[0]


def test_the_place_of_a_null_byte() -> None:
    assert failure(b"x = 1\ny\0 = 2\n")[1:] == (2, 2)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.py", tmp_path):
        with pytest.raises(SourceError, match="cannot read the file: "):
            read_source(path)


def test_the_name_is_as_given_with_forward_slashes(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(b"x = 1\r\n")
    assert read_source(path).filename == path.as_posix()
    assert read_source(path, "src\\m.py").filename == "src/m.py"
    assert read_source(path).text == "x = 1\r\n"
