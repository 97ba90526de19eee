"""Code lenses: a line above a finding that names and links the place where the tensor was put on its device."""

from __future__ import annotations

from lsprotocol import types

from devlint.server.language_server import DevlintServer


def code_lenses(server: DevlintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return a code lens for each finding of a text that has a cause elsewhere, if the client enables lenses."""
    snapshot = server.snapshot.find(params.text_document.uri)
    if snapshot is None or not server.preferences(snapshot.document.path).code_lens:
        return []
    found = []
    for finding in filter(snapshot.contains, snapshot.analysis.diagnostics):
        finding_range = server.snapshot.locations.location(finding.region).range
        for note in finding.trace[:1]:
            line = server.snapshot.locations.describe_line(note.region, params.text_document.uri)
            title = f"{finding.code}: {note.message} ({line})"
            found.append(types.CodeLens(finding_range, server.go_to_command(note.region, title)))
    return found
