"""What the editor shows of the expression under the pointer: where it lives, what it holds, how and since when that is
known."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.server.facts import Fact, Origin
from devlint.server.server import DevlintServer
from devlint.server.views import View
from devlint.server.wording import Atlas

MAX_ACCOUNTS = 4
"""Values of one expression that are told."""


async def hover(server: DevlintServer, params: types.TextDocumentPositionParams) -> types.Hover | None:
    """The fact about the smallest known expression at a position; of a text that has no facts yet, once it has."""
    uri = params.text_document.uri
    glance = server.glance(uri)
    if glance is None or not glance.view.facts:
        await server.analyst.rested()
        glance = server.glance(uri)
    fact = glance.fact_at(params.position) if glance is not None else None
    if glance is None or fact is None:
        return None
    text = "\n".join(_told(fact.fact, glance.view, server.seen.atlas, uri))
    plain = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(plain, glance.range(fact.start, fact.end))


def _told(fact: Fact, view: View, atlas: Atlas, uri: str) -> Iterator[str]:
    accounts = fact.best[:MAX_ACCOUNTS]
    for account in accounts:
        yield f"**{account.text}** `{_shortened(fact.code)}`"
        yield ""
        for origin in account.origins:
            yield f"- {_since(origin, view, atlas, uri)}"
        if account.generic:
            yield "- with arguments that nobody knows"
        yield ""


def _since(origin: Origin, view: View, atlas: Atlas, uri: str) -> str:
    place, where = view.place(origin), ""
    if place is not None:
        there = atlas.location(place)
        where = f" since [{atlas.line(place, uri)}]({there.uri}#L{there.range.start.line + 1})"
    return f"{origin.device}, {origin.how}{where}{f': {origin.message}' if origin.message else ''}"


def _shortened(code: str) -> str:
    code = code.replace("`", "'")
    return code if len(code) <= 60 else f"{code[:57]}..."
