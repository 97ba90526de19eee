"""Reading of Python files and notebooks, which are decoded as Python decodes them.

A byte order mark is removed. Every failure is reported as a `SourceError`.
"""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from devlint.syntax.line_starts import Lines
from devlint.syntax.notebook import read_notebook
from devlint.syntax.source import Source, SourceError, source_from_text

_BOM = b"\xef\xbb\xbf"


def read_source(path: Path, filename: str | None = None) -> Source:
    """Read a file and decode it; `filename` is the name to report, by default the path.

    Raises SourceError if the file cannot be read or decoded.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot read the file: {reason}") from None
    return decode_source(data, filename if filename is not None else path.as_posix())


def decode_source(data: bytes, filename: str) -> Source:
    """Decode the bytes of a file as Python does: by byte order mark, then by PEP 263 declaration, else as UTF-8.

    A file named `*.ipynb` is read as a notebook. Raises SourceError if the bytes cannot be decoded.
    """
    if filename.endswith(".ipynb"):
        return read_notebook(data).source(filename)
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
    return source_from_text(text, filename, encoding, has_bom=has_bom)


def shown_name(path: Path) -> str:
    """Return the name to show for a path: relative to the current directory where possible, otherwise absolute."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def encode_source(text: str) -> bytes:
    """Encode a text in the encoding that the text declares (PEP 263), or in UTF-8 if that fails."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(_declared_encoding(data))
    except (SourceError, UnicodeEncodeError):
        return data


def _declared_encoding(data: bytes) -> str:
    """Return the encoding that the bytes of a file declare (PEP 263), in Python's spelling of its name."""
    first_lines = io.BytesIO(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    try:
        encoding = tokenize.detect_encoding(first_lines.readline)[0]
    except SyntaxError as error:
        # `detect_encoding` also raises SyntaxError for a file that declares no encoding and is not UTF-8.
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
    """Return the row and column of a byte in a file; each undecodable byte sequence before it counts as a character."""
    before = data[:offset].decode("utf-8", errors="replace")
    place = Lines.of(before).position(len(before))
    return place.row, place.column
