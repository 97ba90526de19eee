"""The output format `gitlab`: a code quality report for GitLab, in JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic, Position, Severity
from devlint.output.finding_text import headline
from devlint.output.report_context import ReportContext

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a JSON list with an object for each finding, as GitLab's code quality reports have it.

    GitLab does not show the member `check_name`, so the description begins with the rule's code.
    """
    seen: set[str] = set()
    objects = []
    for diagnostic in diagnostics:
        region = diagnostic.region
        fingerprint = _fingerprint(diagnostic, context.relative(region.filename), seen)
        seen.add(fingerprint)
        objects.append(
            {
                "description": headline(diagnostic),
                "check_name": diagnostic.code,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[diagnostic.severity],
                "location": {
                    "path": context.relative(region.filename),
                    "positions": {"begin": _position(region.start), "end": _position(region.end)},
                },
            }
        )
    yield json.dumps(objects, indent=2) + "\n"


def _position(position: Position) -> dict[str, int]:
    """Return a position in a file as the JSON object with the members "line" and "column" that GitLab reads."""
    return {"line": position.row, "column": position.column}


def _fingerprint(diagnostic: Diagnostic, path: str, seen: set[str]) -> str:
    """Return a fingerprint of a finding that is not in `seen`, the fingerprints of the earlier findings.

    Of two findings with the same fingerprint, GitLab would drop one.
    """
    text = f"{path}:{diagnostic.code}:{diagnostic.fingerprint}"
    fingerprint = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    while fingerprint in seen:
        fingerprint = hashlib.sha256(fingerprint.encode()).hexdigest()
    return fingerprint
