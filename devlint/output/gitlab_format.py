"""`gitlab`: a code quality report as GitLab reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic, Position, Severity
from devlint.output.finding_text import headline
from devlint.output.report_context import ReportContext

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(diagnostics: Sequence[Diagnostic], page: ReportContext) -> Iterator[str]:
    """A list of objects. GitLab does not show `check_name`, so the description begins with the code."""
    seen: set[str] = set()
    objects = []
    for diagnostic in diagnostics:
        region = diagnostic.region
        fingerprint = _fingerprint(diagnostic, page.relative(region.filename), seen)
        seen.add(fingerprint)
        objects.append(
            {
                "description": headline(diagnostic),
                "check_name": diagnostic.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[diagnostic.severity],
                "location": {
                    "path": page.relative(region.filename),
                    "positions": {"begin": _position(region.start), "end": _position(region.end)},
                },
            }
        )
    yield json.dumps(objects, indent=2) + "\n"


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}


def _fingerprint(diagnostic: Diagnostic, path: str, seen: set[str]) -> str:
    """A fingerprint that no earlier finding has: of two alike, GitLab would drop one."""
    text = f"{path}:{diagnostic.code}:{diagnostic.fingerprint}"
    fingerprint = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    while fingerprint in seen:
        fingerprint = hashlib.sha256(fingerprint.encode()).hexdigest()
    return fingerprint
