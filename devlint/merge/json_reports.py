"""Reports in the form `json`: a list with an object for each finding."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.merge.reported_finding import ReportedFinding, ReportError
from devlint.output.json_format import diagnostic_as_json, list_text
from devlint.version import __version__

JsonFinding: TypeAlias = "ReportedFinding[dict[str, object]]"

_START: Final = Position(1, 1)
_MEMBERS: Final = frozenset(
    diagnostic_as_json(Diagnostic("", "", Severity.INFO, Confidence.CERTAIN, "", Region("", _START, _START)))
)
"""The members of each object, by which a report of this version is known: the list has no room for a number."""


def read(text: str) -> list[JsonFinding]:
    """Return the findings of a report. Raise ReportError if the text is none."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ReportError(f"damaged: {problem}") from None
    return [_finding(one) for one in content]


def write(findings: Sequence[JsonFinding]) -> Iterator[str]:
    """Yield the text of a report on findings, which are in their order."""
    return list_text(one.data for one in findings)


def _finding(data: Any) -> JsonFinding:
    """Return the finding that one element of the list describes."""
    if not isinstance(data, dict) or data.keys() != _MEMBERS:
        raise ReportError(f"not a list of findings as devlint {__version__} writes it")
    return ReportedFinding(str(data["filename"]), str(data["code"]), data)
