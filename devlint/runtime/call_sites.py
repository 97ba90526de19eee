"""Places in the user's code: the frames of a call stack that do not belong to a library."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

_HERE = str(Path(__file__).resolve().parent)
_LIBRARY_ROOTS = tuple(
    {os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if name != "data"}
    | {path + os.sep for name, path in sysconfig.get_paths().items() if name != "data"}
    | {_HERE + os.sep}
)
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
"""Folders of installed packages, also of other environments that this interpreter sees."""
_library: dict[str, bool] = {}
"""Whether each file seen so far belongs to a library, by file name."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the user's code: file, lines, columns and function.

    Columns are 1-based; they are 0 where Python does not tell them (before 3.11).
    """

    filename: str
    line: int
    function: str
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"

    @property
    def last_line(self) -> int:
        """Return the line on which the expression at this site ends."""
        return self.end_line or self.line


def is_library(filename: str) -> bool:
    """Return whether a file belongs to a library: the standard library, an installed package, or devlint's runtime."""
    known = _library.get(filename)
    if known is None:
        generated = filename.startswith("<") and not filename.startswith("<ipython")
        known = generated or filename.startswith(_LIBRARY_ROOTS) or any(folder in filename for folder in _INSTALLED)
        _library[filename] = known
    return known


def user_frame(depth: int = 1) -> FrameType | None:
    """Return the innermost frame of the user's code, or None if every frame belongs to a library."""
    frame: FrameType | None = sys._getframe(depth)
    known = _library
    while frame is not None:
        filename = frame.f_code.co_filename
        library = known.get(filename)
        if library is None:
            library = is_library(filename)
        if not library:
            return frame
        frame = frame.f_back
    return None


_by_address: dict[tuple[int, int], tuple[CodeType, Site]] = {}
"""Sites computed so far, by code object id and instruction offset; the code object is kept alive."""


def site_of(frame: FrameType | None) -> Site | None:
    """Return the site of a frame, with the columns of the expression that the frame is evaluating; None for None."""
    return None if frame is None else site_at(frame.f_code, frame.f_lasti, frame.f_lineno)


def site_at(code: CodeType, instruction: int, line: int) -> Site:
    """Return the site of a bytecode instruction.

    `line` is used where Python does not tell the instruction's position.
    """
    known = _by_address.get((id(code), instruction))
    if known is None:
        known = _by_address[(id(code), instruction)] = (code, _locate(code, instruction, line))
    return known[1]


def _locate(code: CodeType, instruction: int, line: int) -> Site:
    """Return the site of a bytecode instruction, computed from the code object's position table."""
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        for index, (start, end, column, end_column) in enumerate(positions()):
            if index == instruction // 2 and start is not None and column is not None:
                last = end or start
                first_column = _characters(code.co_filename, start, column)
                last_column = _characters(code.co_filename, last, end_column or column)
                return Site(code.co_filename, start, code.co_name, first_column + 1, last, last_column + 1)
    return Site(code.co_filename, line, code.co_name)


def _characters(filename: str, line: int, column: int) -> int:
    """Convert a column in UTF-8 bytes, as Python counts, to a column in characters."""
    text = linecache.getline(filename, line)
    return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))


def user_site(depth: int = 1) -> Site | None:
    """Return the site of the innermost frame of the user's code."""
    return site_of(user_frame(depth + 1))


def user_stack(frame: FrameType | None) -> tuple[Site, ...]:
    """Return the sites of the user's frames from `frame` outwards, innermost first."""
    found: list[Site] = []
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            site = site_of(frame)
            if site is not None:
                found.append(site)
        frame = frame.f_back
    return tuple(found)
