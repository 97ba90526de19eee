"""What can be done about findings: mend them, silence them, read about them, go to where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from lsprotocol import types

from devlint.diagnostic import Applicability, Diagnostic, Edit
from devlint.repair.ignore_comments import ignore_comment_edits
from devlint.server.documents import Document
from devlint.server.mending import Order
from devlint.server.seen import Sighting
from devlint.server.server import DevlintServer
from devlint.syntax.index import index_source
from devlint.syntax.source import Source, SourceError

FIX_ALL: Final = "source.fixAll.devlint"
FIX_NOTEBOOK: Final = "notebook.source.fixAll.devlint"
"""Asked of one cell and meant for all; for the other kind, clients ask one cell after the other."""

SHOW_DOCUMENTATION: Final = "devlint.showDocumentation"
KINDS: Final = (types.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK)


@dataclass(frozen=True, slots=True)
class Ticketed:
    """What a client hands back when it wants to know what an action does: which one, in which text, and for which
    finding, by its code and where it begins in the program."""

    uri: str
    what: str
    code: str = ""
    row: int = 0
    column: int = 0

    @classmethod
    def of(cls, uri: str, what: str, one: Diagnostic) -> Ticketed:
        """For an action about one finding."""
        return cls(uri, what, one.code, one.region.start.row, one.region.start.column)

    def means(self, one: Diagnostic) -> bool:
        """Whether it is about this finding; what was found may have changed meanwhile."""
        return (one.code, one.region.start.row, one.region.start.column) == (self.code, self.row, self.column)


async def actions(server: DevlintServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions for a range."""
    await server.analyst.rested()
    uri = params.text_document.uri
    sighting = server.seen.find(uri)
    if sighting is None:
        return []
    found: list[types.CodeAction] = []
    only = params.context.only
    if _wanted(types.CodeActionKind.QuickFix, only):
        for one in filter(sighting.holds, sighting.view.diagnostics):
            if _meets(sighting.document, one, params.range):
                found += _for_one(server, uri, one)
    if not found and only is None and params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic:
        found += _for_expression(server, uri, params.range)
    found += [one for one in _for_all(uri, sighting) if one.kind and _wanted(one.kind, only)]
    if not server.abilities.resolves:
        found = [await resolve(server, one) for one in found]
    return [one for one in found if one.edit or one.command or server.abilities.resolves]


async def resolve(server: DevlintServer, action: types.CodeAction) -> types.CodeAction:
    """What an action changes, worked out when somebody wants it."""
    if not isinstance(action.data, dict):
        return action
    await server.analyst.rested()
    wanted = Ticketed(**action.data)
    sighting = server.seen.find(wanted.uri)
    if sighting is None:
        return action
    if wanted.what in ("all", "cell"):
        action.edit = await _everything(server, wanted.uri, cell=wanted.what == "cell")
        return action
    for one in filter(wanted.means, sighting.view.diagnostics):
        edits = one.fix.edits if wanted.what == "fix" and one.fix is not None else _silencing(sighting, one)
        action.edit = server.workspace_edit(sighting.document, edits)
    return action


def _for_one(server: DevlintServer, uri: str, one: Diagnostic) -> Iterator[types.CodeAction]:
    """The actions for one finding."""
    shown = [server.worded(one)]
    quick = types.CodeActionKind.QuickFix
    if one.fix is not None and one.fix.applicability is not Applicability.DISPLAY:
        safe = one.fix.applicability is Applicability.SAFE
        title = _sentence(one.fix.message if safe else f"{one.fix.message} (may change what the program does)")
        data = asdict(Ticketed.of(uri, "fix", one))
        yield types.CodeAction(title, quick, shown, is_preferred=safe, data=data)
    if not one.code.startswith("DEV9"):
        data = asdict(Ticketed.of(uri, "silence", one))
        yield types.CodeAction(f"Disable {one.code} ({one.name}) for this line", quick, shown, data=data)
    if one.trace:
        command = server.way_to(one.trace[0].region, "Go to the cause")
        yield types.CodeAction(f"Go to the cause: {one.trace[0].message}", quick, shown, command=command)
    if one.url is not None:
        title = f"Show the documentation of {one.code} ({one.name})"
        yield types.CodeAction(
            title, quick, shown, command=types.Command(title, SHOW_DOCUMENTATION, arguments=[one.url])
        )


def _for_expression(server: DevlintServer, uri: str, wanted: types.Range) -> Iterator[types.CodeAction]:
    """Where there is no finding, and somebody asks what can be done: the way to where a tensor was made or moved."""
    glance = server.glance(uri)
    fact = glance.fact_at(wanted.start) if glance is not None else None
    if glance is None or fact is None:
        return
    origins = dict.fromkeys(origin for account in fact.fact.best for origin in account.origins)
    for origin in origins:
        place = glance.view.place(origin)
        if place is not None:
            title = f"Go to where {fact.fact.code} is from: {origin.message} ({server.seen.atlas.line(place, uri)})"
            yield types.CodeAction(title, types.CodeActionKind.Empty, command=server.way_to(place, title))


def _for_all(uri: str, sighting: Sighting) -> Iterator[types.CodeAction]:
    """The actions for all findings of a file; for those of a cell, and those of all cells."""
    mendable = [one for one in sighting.view.diagnostics if _is_mendable(one)]
    title = "Fix all that devlint can fix safely"
    if not sighting.document.is_notebook:
        if mendable:
            yield types.CodeAction(title, FIX_ALL, data=asdict(Ticketed(uri, "all")))
        return
    if any(map(sighting.holds, mendable)):
        yield types.CodeAction(f"{title} in this cell", FIX_ALL, data=asdict(Ticketed(uri, "cell")))
    if mendable:
        yield types.CodeAction(f"{title} in this notebook", FIX_NOTEBOOK, data=asdict(Ticketed(uri, "all")))


def _silencing(sighting: Sighting, one: Diagnostic) -> Iterable[Edit]:
    try:
        return [*ignore_comment_edits(index_source(Source.of(sighting.view.text)), [one], None)]
    except SourceError:
        return []


async def _everything(server: DevlintServer, uri: str, *, cell: bool) -> types.WorkspaceEdit | None:
    """All safe fixes that go together and help, in a program or in one cell of it, as one edit of each text."""
    current = server.current(uri)
    if current is None:
        return None
    document, part = current
    number = document.parts.index(part) + 1 if cell else None
    texts = await server.analyst.mend(server.job(), Order(document.path, number, server.notebooks()))
    later = server.current(uri)
    if texts is None or later is None or later[0].text != document.text:
        return None
    return server.rewriting(document, texts)


def _meets(document: Document, one: Diagnostic, wanted: types.Range) -> bool:
    found = document.location(one.region.start, one.region.end).range
    return found.start <= wanted.end and wanted.start <= found.end


def _is_mendable(one: Diagnostic) -> bool:
    return one.fix is not None and one.fix.applicability is Applicability.SAFE


def _wanted(kind: str, only: Iterable[str] | None) -> bool:
    """Whether a client asks for this kind of action, or for one of which it is a kind."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in only)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
