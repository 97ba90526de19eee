"""LSP inlay hints: device and dtype of a value, shown beside the name it is assigned to (`x: cuda:0 float32`)."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.explain.cut_texts import cut_at_end
from devlint.server.document_view import DocumentView
from devlint.server.expression_info import ExpressionInfo
from devlint.server.file_analysis import LocatedInfo
from devlint.server.language_server import DevlintServer
from devlint.server.preferences import InlayHintMode

MAX_HINT_LENGTH = 24
"""The largest number of characters of a hint's label; what is cut is told under the pointer."""

MAX_HINT_VALUES = 2
"""The largest number of different values of one name that a hint lists; a name with more values gets no hint."""


async def inlay_hints(server: DevlintServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Return the inlay hints within a range of a text, once the analysis of the open files is up to date."""
    await server.scheduler.wait_for_open_files()
    uri = params.text_document.uri
    view, snapshot = server.document_view(uri), server.snapshot.find(uri)
    if view is None or snapshot is None:
        return []
    mode = server.preferences(snapshot.document.path).inlay_hints
    if mode is InlayHintMode.OFF:
        return []
    first, last = view.offset(params.range.start), view.offset(params.range.end)
    return [
        types.InlayHint(
            view.range(one.end, one.end).start,
            _hint_label(server, view, one, text),
            types.InlayHintKind.Type,
            tooltip=_tooltip(one.info, text),
            padding_left=False,
        )
        for one in view.infos()
        if first <= one.start <= last and view.is_in_part(one.start)
        for text in _hint_texts(one.info, mode)
    ]


def _hint_texts(info: ExpressionInfo, mode: InlayHintMode) -> Iterator[str]:
    """Yield the text of the inlay hint for an assignment target.

    Yield nothing if no value is known, if there are too many values, or if the user's hint mode excludes them.
    """
    if not info.is_target:
        return
    values = [one for one in info.best_values if one.short and (mode is InlayHintMode.ALL or one.placed_here)]
    texts = list(dict.fromkeys(one.short for one in values))
    if 0 < len(texts) <= MAX_HINT_VALUES:
        yield " or ".join(texts)


def _shortened(text: str) -> str:
    """Return the text of a hint, cut at its end where the label would be too long."""
    return cut_at_end(text, MAX_HINT_LENGTH - len(": "), "…")


def _tooltip(info: ExpressionInfo, text: str) -> str | None:
    """Return the text that the hint shows under the pointer: the whole text if it is cut, and each device's condition.

    None where the label says everything.
    """
    origins = dict.fromkeys(one.device for described in info.best_values for one in described.origins)
    conditional = [one for one in origins if " when " in one]
    told = [text] if _shortened(text) != text else []
    return "\n".join((*told, *conditional)) or None


def _hint_label(
    server: DevlintServer, view: DocumentView, located: LocatedInfo, text: str
) -> str | list[types.InlayHintLabelPart]:
    """Return the label of an inlay hint for an assigned value.

    The label links to where the value got its device, if that is one single source location outside of the assignment.
    """
    origins = {origin for described in located.info.best_values for origin in described.origins}
    regions = [view.analysis.region_of(origin) for origin in origins]
    placed_here = any(described.placed_here for described in located.info.best_values)
    shown = _shortened(text)
    if len(regions) != 1 or regions[0] is None or placed_here:
        return f": {shown}"
    return [
        types.InlayHintLabelPart(": "),
        types.InlayHintLabelPart(shown, location=server.snapshot.locations.location(regions[0])),
    ]
