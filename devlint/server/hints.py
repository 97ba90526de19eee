"""Placements beside the names that are given them: `x: cuda:0 float32`."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.server.facts import Fact
from devlint.server.glance import Glance
from devlint.server.preferences import Hints
from devlint.server.server import DevlintServer
from devlint.server.views import Shown

MAX_TOLD = 2
"""Values of one name that a hint has room for; where there are more it says nothing."""


async def hints(server: DevlintServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The hints within a range, once everything that has changed has been looked at."""
    await server.analyst.rested()
    uri = params.text_document.uri
    glance, found = server.glance(uri), server.seen.find(uri)
    if glance is None or found is None:
        return []
    wanted = server.preferences(found.document.path).hints
    if wanted is Hints.OFF:
        return []
    first, last = glance.offset(params.range.start), glance.offset(params.range.end)
    return [
        types.InlayHint(
            glance.range(one.end, one.end).start,
            _label(server, glance, one, told),
            types.InlayHintKind.Type,
            padding_left=False,
        )
        for one in glance.facts()
        if first <= one.start <= last and glance.is_in_part(one.start)
        for told in _told(one.fact, wanted)
    ]


def _told(fact: Fact, wanted: Hints) -> Iterator[str]:
    """What there is to say of a name where it is given a value; nothing where nothing is known."""
    if not fact.bound:
        return
    accounts = [one for one in fact.best if one.short and (wanted is Hints.ALL or one.decided)]
    told = list(dict.fromkeys(one.short for one in accounts))
    if 0 < len(told) <= MAX_TOLD:
        yield " or ".join(told)


def _label(server: DevlintServer, glance: Glance, shown: Shown, told: str) -> str | list[types.InlayHintLabelPart]:
    """A hint; one that leads to where the value is from, if that is one place, and not beside it."""
    origins = {origin for account in shown.fact.best for origin in account.origins}
    places = [glance.view.place(origin) for origin in origins]
    if len(places) != 1 or places[0] is None or any(account.decided for account in shown.fact.best):
        return f": {told}"
    return [
        types.InlayHintLabelPart(": "),
        types.InlayHintLabelPart(told, location=server.seen.atlas.location(places[0])),
    ]
