"""The output format `json`: all data of each finding, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from devlint.diagnostic import Diagnostic, Edit, Fix, Note, Position
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield a JSON list of objects, one for each finding."""
    if not diagnostics:
        yield "[]\n"
        return
    for index, diagnostic in enumerate(diagnostics):
        yield ("[\n" if index == 0 else ",\n") + json.dumps(diagnostic_as_json(diagnostic), indent=2)
    yield "\n]\n"


def diagnostic_as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a finding as a JSON object."""
    region = diagnostic.region
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "confidence": diagnostic.confidence.value,
        "message": diagnostic.message,
        "filename": region.filename,
        "location": _position(region.start),
        "end_location": _position(region.end),
        "trace": [_note(note) for note in diagnostic.trace],
        "fix": _fix(diagnostic.fix) if diagnostic.fix else None,
        "url": diagnostic.url,
        "cell": region.cell,
        "fingerprint": diagnostic.fingerprint,
    }


def _position(position: Position) -> dict[str, int]:
    """Return a position as a JSON object."""
    return {"row": position.row, "column": position.column}


def _note(note: Note) -> dict[str, object]:
    """Return a step of a finding's trace as a JSON object."""
    region = note.region
    place = {"filename": region.filename, "location": _position(region.start), **_cell(region.cell)}
    return {"message": note.message, **place}


def _fix(fix: Fix) -> dict[str, object]:
    """Return a fix as a JSON object."""
    return {
        "message": fix.message,
        "applicability": fix.applicability.value,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, object]:
    """Return an edit as a JSON object."""
    place = {"location": _position(edit.start), "end_location": _position(edit.end), **_cell(edit.cell)}
    return {"content": edit.content, **place}


def _cell(number: int | None) -> dict[str, object]:
    """Return the member "cell" of a note or an edit in a notebook, else no member."""
    return {} if number is None else {"cell": number}
