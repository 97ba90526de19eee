"""From bytes to text: the encoding Python would use, no byte order mark, and one error for all that goes wrong."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

from devlint.diagnostic import Position
from devlint.syntax.lines import NEWLINE, Lines

_BOM = b"\xef\xbb\xbf"


class SourceError(Exception):
    """A file, or one statement of it, that cannot be read or parsed, and the place where that shows."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, int, int]]:
        return type(self), (self.message, self.row, self.column)


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file, without byte order mark and with the newlines of the file."""

    filename: str
    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    has_bom: bool = False

    @staticmethod
    def of(text: str, filename: str = "<string>") -> Source:
        """A source from text that is already decoded."""
        return _checked(text, filename, "utf-8", has_bom=text.startswith("\ufeff"))


def read_source(path: Path, filename: str | None = None) -> Source:
    """Read and decode a file; `filename` is the name to report, the path itself by default."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot read the file: {reason}") from None
    return decode_source(data, filename if filename is not None else path.as_posix())


def decode_source(data: bytes, filename: str) -> Source:
    """Decode the bytes of a file as Python does: byte order mark, then PEP 263 declaration, then UTF-8."""
    has_bom = data.startswith(_BOM)
    body = data[len(_BOM) :] if has_bom else data
    if b"\0" in body:
        place = _position_of_byte(body, body.index(b"\0"))
        raise SourceError("the file holds a null byte: it is binary, or not in an ASCII-based encoding", *place)
    encoding = _declared_encoding(data)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"0x{body[error.start]:02x}"
        raise SourceError(f"byte {byte} is not valid {encoding}", *_position_of_byte(body, error.start)) from None
    except (LookupError, ValueError) as error:
        raise SourceError(f"cannot decode the file as {encoding}: {error}") from None
    return _checked(text, filename, encoding, has_bom)


def _checked(text: str, filename: str, encoding: str, has_bom: bool) -> Source:
    """The source of a decoded text, unless the text holds what no Python file may hold."""
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\0" in text:
        place = Lines.of(text).position(text.index("\0"))
        raise SourceError("the text holds a null character", place.row, place.column)
    newline = NEWLINE.search(text)
    return Source(filename.replace("\\", "/"), text, encoding, newline.group() if newline else "\n", has_bom)


def _declared_encoding(data: bytes) -> str:
    """The encoding a file declares, in Python's spelling of its name."""
    first_lines = io.BytesIO(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    try:
        encoding = tokenize.detect_encoding(first_lines.readline)[0]
    except SyntaxError as error:
        # The same exception stands for bytes that are not UTF-8 in a file that declares nothing.
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as invalid:
            if "unknown encoding" not in str(error):
                byte = f"0x{data[invalid.start]:02x}"
                message = f"byte {byte} is not valid utf-8, and the file declares no other encoding"
                raise SourceError(message, *_position_of_byte(data, invalid.start)) from None
        row = 1 if b"coding" in first_lines.getvalue().partition(b"\n")[0] else 2
        raise SourceError(str(error), row) from None
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _position_of_byte(data: bytes, offset: int) -> tuple[int, int]:
    """The row and column of a byte; what comes before it on its row may be undecodable and is counted leniently."""
    before = data[:offset].decode("utf-8", errors="replace")
    place: Position = Lines.of(before).position(len(before))
    return place.row, place.column
