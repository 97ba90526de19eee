"""The output format `rdjson`: the JSON format of the tool reviewdog, in which columns count bytes of UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Applicability, Diagnostic, Position, Region
from devlint.output.finding_text import explanation_lines, headline
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield one JSON object in reviewdog's format that holds all findings."""
    report = {
        "source": {"name": "devlint"},
        "severity": "WARNING",
        "diagnostics": [_as_object(diagnostic, context) for diagnostic in diagnostics],
    }
    yield json.dumps(report, indent=2) + "\n"


def _as_object(diagnostic: Diagnostic, context: ReportContext) -> dict[str, object]:
    """Return a finding as the JSON object that reviewdog reads for one diagnostic."""
    region = diagnostic.region
    described: dict[str, object] = {
        "message": "\n".join([headline(diagnostic), *explanation_lines(diagnostic)]),
        "severity": diagnostic.severity.value.upper(),
        "code": {"value": diagnostic.code},
        "location": {"path": region.filename, "range": _range(region, region.start, region.end, context)},
    }
    if diagnostic.fix and diagnostic.fix.applicability is not Applicability.DISPLAY:
        described["suggestions"] = [
            {"range": _range(region, edit.start, edit.end, context), "text": edit.content}
            for edit in diagnostic.fix.edits
        ]
    return described


def _range(region: Region, start: Position, end: Position, context: ReportContext) -> dict[str, object]:
    """Return two positions, `start` and `end`, in the file of a region as reviewdog's JSON object of a range."""
    lines = context.lines(region.filename, region.cell)
    return {"start": _position(start, lines), "end": _position(end, lines)}


def _position(position: Position, lines: Sequence[str]) -> dict[str, int]:
    """Return a position in a file as reviewdog's JSON object, with the column counted in bytes of UTF-8.

    `lines` are the lines of the file.
    """
    before = lines[position.row - 1][: position.column - 1] if position.row <= len(lines) else ""
    missing = position.column - 1 - len(before)
    return {"line": position.row, "column": len(before.encode(errors="replace")) + missing + 1}
