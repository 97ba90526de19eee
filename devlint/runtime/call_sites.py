"""Source locations in the user's code, found in call stacks by passing over the frames of libraries."""

from __future__ import annotations

import dis
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
    | {str(Path(_HERE).parent) + os.sep}
)
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
"""Folders of installed packages, also of other environments that this interpreter sees."""
known_libraries: dict[str, bool] = {}
"""Whether each file seen so far belongs to a library, by file name."""


@dataclass(frozen=True, slots=True)
class Site:
    """A source location in the user's code: file, lines, columns and the name of the function.

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
        """Return the line on which the expression at this source location ends."""
        return self.end_line or self.line


def is_library(filename: str) -> bool:
    """Return whether a file belongs to a library, not to the user's code.

    Libraries are the standard library, installed packages, devlint itself and generated code (a name such as
    `<string>`).
    """
    known = known_libraries.get(filename)
    if known is None:
        generated = filename.startswith("<") and not filename.startswith("<ipython")
        known = generated or filename.startswith(_LIBRARY_ROOTS) or any(folder in filename for folder in _INSTALLED)
        known_libraries[filename] = known
    return known


def user_frame(depth: int = 1) -> FrameType | None:
    """Return the innermost frame of the user's code, or None if every frame on the call stack belongs to a library.

    `depth` is the number of frames above this function at which the search starts.
    """
    frame: FrameType | None = sys._getframe(depth)
    known = known_libraries
    while frame is not None:
        filename = frame.f_code.co_filename
        library = known.get(filename)
        if library is None:
            library = is_library(filename)
        if not library:
            return frame
        frame = frame.f_back
    return None


_OPERATOR_WRAPPERS = tuple(
    f"/torch/{name}".replace("/", os.sep)
    for name in ("_tensor.py", "functional.py", "nn/functional.py", "_ops.py", "special/__init__.py", "_VF.py")
)
"""Files of torch whose functions pass a caller's operator on."""


def called_by_user(depth: int = 1) -> bool:
    """Return whether the user's code itself calls the operator that runs, not a library for purposes of its own.

    The frames of devlint and of torch's functions that only pass an operator on are passed over. `depth` is the number
    of frames above this function at which the search starts.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_HERE) and not filename.endswith(_OPERATOR_WRAPPERS):
            return not is_library(filename)
        frame = frame.f_back
    return False


_by_address: dict[tuple[int, int], tuple[CodeType, Site]] = {}
"""Sites computed so far, by code object id and instruction offset; the code object is kept alive."""


def site_of(frame: FrameType | None) -> Site | None:
    """Return the source location of the expression that a frame is evaluating, or None if the frame is None."""
    return None if frame is None else site_at(frame.f_code, frame.f_lasti, frame.f_lineno)


def site_at(code: CodeType, instruction: int, line: int) -> Site:
    """Return the source location of the bytecode instruction at an offset in a code object.

    `line` is used where Python does not tell the instruction's position.
    """
    known = _by_address.get((id(code), instruction))
    if known is None:
        known = _by_address[(id(code), instruction)] = (code, _site_from_position_table(code, instruction, line))
    return known[1]


def _site_from_position_table(code: CodeType, instruction: int, line: int) -> Site:
    """Return the source location of a bytecode instruction, computed from the position table of its code object.

    Without such a table, or without an entry in it, the location has only the given line.
    """
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        place = _evaluating(code, instruction) // 2
        for index, (start, end, column, end_column) in enumerate(positions()):
            if index == place and start is not None and column is not None:
                last = end or start
                first_column = _column_in_characters(code.co_filename, start, column)
                last_column = _column_in_characters(code.co_filename, last, end_column or column)
                return Site(code.co_filename, start, code.co_name, first_column + 1, last, last_column + 1)
    return Site(code.co_filename, line, code.co_name)


def _evaluating(code: CodeType, instruction: int) -> int:
    """Return the offset of the instruction whose source an instruction stands for: mostly itself.

    The one that asks for the next element of a `for` loop has the whole loop as its source before Python 3.12, and
    stands for the expression that is looped over.
    """
    if dis.opname[code.co_code[instruction]] != "FOR_ITER":
        return instruction
    before = [one for one in dis.get_instructions(code) if one.offset < instruction and one.opcode != dis.EXTENDED_ARG]
    loops = len(before) > 1 and before[-1].opname == "GET_ITER"
    return before[-2].offset if loops else instruction


def _column_in_characters(filename: str, line: int, column: int) -> int:
    """Return a column counted in characters for a column counted in UTF-8 bytes, which is how Python reports columns.

    Both columns count from 0. `filename` and `line` name the source line, which is read to convert the column.
    """
    text = linecache.getline(filename, line)
    return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))


def user_site(depth: int = 1) -> Site | None:
    """Return the source location of the innermost frame of the user's code, or None if there is no such frame.

    `depth` is the number of frames above this function at which the search starts.
    """
    return site_of(user_frame(depth + 1))


def user_stack(frame: FrameType | None) -> tuple[Site, ...]:
    """Return the source locations of the user's frames on the call stack from `frame` outwards, innermost first.

    Frames of libraries are left out.
    """
    found: list[Site] = []
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            site = site_of(frame)
            if site is not None:
                found.append(site)
        frame = frame.f_back
    return tuple(found)
