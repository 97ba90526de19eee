"""The same repair whatever the layout: line ends, tabs, byte order marks and encodings are kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .programs import Program
from .test_everything import CASES, FIXTURES

OPENING = "# coding: latin-1\n# déjà vu\n"


def with_carriage_returns(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def with_byte_order_mark(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data


def with_tabs(data: bytes) -> bytes:
    return re.sub(rb"^(?:    )+", lambda found: b"\t" * (len(found[0]) // 4), data, flags=re.MULTILINE)


def in_latin_1(data: bytes) -> bytes:
    return (OPENING + data.decode()).encode("latin-1")


LAYOUTS = (with_carriage_returns, with_byte_order_mark, with_tabs, in_latin_1)


def check_layouts(files: dict[str, bytes], folder: Path, layouts: tuple[Callable[[bytes], bytes], ...]) -> None:
    plain = {name: document.data for name, document in Program(folder, files).repaired().documents.items()}
    for layout in layouts:
        laid_out = {name: layout(data) for name, data in files.items()}
        if laid_out == files:
            # A file without a block says nothing of how it would be indented.
            continue
        done = Program(folder, laid_out).repaired()
        assert {name: document.data for name, document in done.documents.items()} == {
            name: layout(data) for name, data in plain.items()
        }


@pytest.mark.parametrize("files", FIXTURES[::11])
def test_a_fixture(files: dict[str, bytes], tmp_path: Path) -> None:
    try:
        "".join(data.decode() for data in files.values()).encode("latin-1")
    except UnicodeEncodeError:
        pytest.skip("it does not go into latin-1")
    check_layouts(files, tmp_path, LAYOUTS)


@pytest.mark.skipif(not CASES, reason="the cases are not beside this checkout")
@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.parent.name)
def test_a_case(folder: Path, tmp_path: Path) -> None:
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    check_layouts(files, tmp_path, LAYOUTS[::2])
