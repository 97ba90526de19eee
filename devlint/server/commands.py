"""What clients can have the server do."""

from __future__ import annotations

from lsprotocol import types

from devlint.server.server import DevlintServer


async def show_documentation(server: DevlintServer, url: str) -> None:
    """Open a page about a rule; tell where it is, where the client cannot open one."""
    if server.abilities.shows:
        await server.window_show_document_async(types.ShowDocumentParams(url, external=True))
    else:
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, url))


async def go_to_cause(server: DevlintServer, uri: str, line: int, character: int) -> None:
    """Show the place where a tensor was made or moved."""
    place = types.Position(line, character)
    if server.abilities.shows:
        selection = types.Range(place, place)
        await server.window_show_document_async(types.ShowDocumentParams(uri, take_focus=True, selection=selection))
    else:
        message = f"{uri}, line {line + 1}"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))


def lenses(server: DevlintServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Above each finding that comes from elsewhere: where from."""
    sighting = server.seen.find(params.text_document.uri)
    if sighting is None or not server.preferences(sighting.document.path).code_lens:
        return []
    found = []
    for one in filter(sighting.holds, sighting.view.diagnostics):
        here = server.seen.atlas.location(one.region).range
        for note in one.trace[:1]:
            line = server.seen.atlas.line(note.region, params.text_document.uri)
            title = f"{one.code}: {note.message} ({line})"
            found.append(types.CodeLens(here, server.way_to(note.region, title)))
    return found
