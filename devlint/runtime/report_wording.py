"""Words for reports of recorded programs: file names, source lines, numbers of bytes and seconds, and plurals."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from devlint.diagnostic import Region

T = TypeVar("T")
_TEST_FOLDERS = frozenset({"test", "tests"})


def source_lines(filename: str, cell: int | None) -> Sequence[str]:
    """Return the lines of a source file without their line ends.

    `cell`, the index of a notebook cell, is ignored, because notebooks are not run.
    """
    return [line.rstrip("\n") for line in linecache.getlines(filename)]


def relative_path(filename: str) -> str:
    """Return a file name relative to the current directory if the file lies below it, otherwise the name as given."""
    path, base = Path(filename), Path.cwd()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else filename


def place_text(region: Region) -> str:
    """Return the start of a source region as `file:row:column`, with the file relative to the current directory."""
    return f"{relative_path(region.filename)}:{region.start.row}:{region.start.column}"


def is_test_file(filename: str) -> bool:
    """Return whether a file belongs to the tests of a project, by its name or that of a folder in the project."""
    path = Path(relative_path(filename))
    named = path.stem.startswith("test_") or path.stem.endswith("_test") or path.stem == "conftest"
    return named or not _TEST_FOLDERS.isdisjoint(path.parts[:-1] if not path.is_absolute() else path.parts[-2:-1])


def apart_from_tests(things: Sequence[T], filename_of: Callable[[T], str]) -> tuple[list[T], list[T]]:
    """Return things outside of test files, and those in test files.

    If all are in test files, what was run is a test, and none is set apart.
    """
    parts: tuple[list[T], list[T]] = ([], [])
    for thing in things:
        parts[is_test_file(filename_of(thing))].append(thing)
    return parts if parts[0] else (parts[1], [])


def count_text(number: int, noun: str) -> str:
    """Return a number with a noun, such as `1 wait` or `1,200 waits`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def host_only_text(accelerator: str, operators: int) -> str:
    """Return the words for a run that placed nothing on the accelerator of this name, such as `the emulated xpu`."""
    return f"nothing was ever on {accelerator}: {count_text(operators, 'operator')} ran on the host"


def share_text(part: float, whole: float) -> str:
    """Return a part as a share of the whole, such as `12 %`."""
    share = 100 * part / whole if whole else 0.0
    return "< 1 %" if 0 < share < 1 else f"{share:.0f} %"


def format_number(number: float) -> str:
    """Return a number with at most one digit after the point, such as `2` or `2.5`."""
    return f"{number:,.1f}".removesuffix(".0")


def format_bytes(nbytes: int) -> str:
    """Return a number of bytes as readable text, such as `1.5 kB`."""
    amount = float(nbytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def format_duration(seconds: float) -> str:
    """Return a number of seconds as readable text, such as `2.5 ms`."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"
