"""One finding as a report holds it, and the error that a text is no such report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from devlint.version import __version__

Data = TypeVar("Data")


class ReportError(Exception):
    """The error that a text is no report of this devlint in the form that it seems to be in."""


@dataclass(frozen=True, slots=True)
class ReportedFinding(Generic[Data]):
    """One finding as a report holds it: the file that it is in, the code of its rule, and its data in the form."""

    file: str
    code: str
    data: Data


def check_version(version: object) -> None:
    """Raise ReportError unless a version, which a report names, is that of this devlint."""
    if version != __version__:
        raise ReportError(f"written by devlint {version}, and this is devlint {__version__}")
