"""Records of what an analysis could not do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InternalError:
    """A record of an exception in devlint's own analysis of one function; `--verbose` shows it.

    The exception was contained, and the analysis went on with the rest of the program.
    """

    filename: str
    where: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True)
class UnparsedStatement:
    """A record of a statement that is valid Python but has no syntax tree: it is nested too deeply, for example.

    The analysis knows nothing of such a statement; `--verbose` shows the record.
    """

    filename: str
    row: int
    message: str
