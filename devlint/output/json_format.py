"""The output format `json`: a JSON list of all findings with all their data, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from devlint.diagnostic import AssumptionNote, Diagnostic, Edit, Fix, Note, Position, Region
from devlint.output.report_context import ReportContext


def render(diagnostics: Sequence[Diagnostic], context: ReportContext) -> Iterator[str]:
    """Yield the text of a JSON list with an object for each finding, piece by piece."""
    return list_text(map(diagnostic_as_json, diagnostics))


def list_text(objects: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield the text of a JSON list of objects."""
    index = -1
    for index, one in enumerate(objects):
        yield ("[\n" if index == 0 else ",\n") + json.dumps(one, indent=2)
    yield "[]\n" if index < 0 else "\n]\n"


def diagnostic_as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Return a finding as a JSON object that holds all its data, such as code, message, position, trace and fix."""
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
        "assumptions": [_assumption(one, region) for one in diagnostic.assumptions],
        "fix": _fix(diagnostic.fix) if diagnostic.fix else None,
        "url": None,  # a field of the format, without a value as long as the rules' pages have no address on the web
        "cell": region.cell,
        "fingerprint": diagnostic.fingerprint,
    }


def _position(position: Position) -> dict[str, int]:
    """Return a position in a file as a JSON object with the members "row" and "column"."""
    return {"row": position.row, "column": position.column}


def _note(note: Note) -> dict[str, object]:
    """Return one step of a finding's trace as a JSON object: its message, its file and its position."""
    region = note.region
    place = {"filename": region.filename, "location": _position(region.start), **_cell_member(region.cell)}
    return {"message": note.message, **place}


def _assumption(note: AssumptionNote, finding: Region) -> dict[str, object]:
    """Return an assumption of a finding as a JSON object: its kind, its message, its file and its position.

    The position is that of the finding where no other place raises the question.
    """
    region = note.region or finding
    place = {"filename": region.filename, "location": _position(region.start), **_cell_member(region.cell)}
    return {"kind": note.kind.value, "message": note.message, **place}


def _fix(fix: Fix) -> dict[str, object]:
    """Return the fix of a finding as a JSON object: its message, its applicability and its edits."""
    return {
        "message": fix.message,
        "applicability": fix.applicability.value,
        "edits": [_edit(edit) for edit in fix.edits],
    }


def _edit(edit: Edit) -> dict[str, object]:
    """Return one edit of a fix as a JSON object: the new text, and the start and end of the text that it replaces."""
    place = {"location": _position(edit.start), "end_location": _position(edit.end), **_cell_member(edit.cell)}
    return {"content": edit.content, **place}


def _cell_member(number: int | None) -> dict[str, object]:
    """Return a JSON object with the number of a notebook cell as its only member, "cell".

    The object is empty if the number is None, as for a file that is no notebook.
    """
    return {} if number is None else {"cell": number}
