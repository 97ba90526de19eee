"""LSP code lenses: a line above a finding that links to the source location where its tensor got its device."""

from __future__ import annotations

from lsprotocol import types

from devlint.server.language_server import DevlintServer


def code_lenses(server: DevlintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return a code lens for each finding in a text whose cause is at another source location.

    Return an empty list if the client's settings turn code lenses off.
    """
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
