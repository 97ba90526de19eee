"""LSP hover texts: the device and dtype of the expression under the pointer, and where its device comes from."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.explain.cut_texts import cut_at_end
from devlint.server.expression_info import DeviceOrigin, ExpressionInfo
from devlint.server.file_analysis import FileAnalysis
from devlint.server.language_server import DevlintServer
from devlint.server.locations import LocationMap

MAX_HOVER_VALUES = 4
"""The largest number of different values of one expression that a hover text lists."""

MAX_CODE_LENGTH = 60
"""The largest number of characters of source code that a hover text quotes."""


async def hover(server: DevlintServer, params: types.TextDocumentPositionParams) -> types.Hover | None:
    """Return the hover text for the smallest described expression around a position, or None if there is none.

    If the text has no analysis results yet, wait for its first analysis.
    """
    uri = params.text_document.uri
    view = server.document_view(uri)
    if view is None or not view.analysis.infos:
        await server.scheduler.wait_for_open_files()
        view = server.document_view(uri)
    located = view.info_at(params.position) if view is not None else None
    if view is None or located is None:
        return None
    text = "\n".join(_markdown_lines(located.info, view.analysis, server.snapshot.locations, uri))
    content = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(content, view.range(located.start, located.end))


def _markdown_lines(info: ExpressionInfo, analysis: FileAnalysis, locations: LocationMap, uri: str) -> Iterator[str]:
    """Yield the Markdown lines that describe the values of an expression.

    Each origin of a value's device is a list item.
    """
    for described in info.best_values[:MAX_HOVER_VALUES]:
        yield f"**{described.text}** `{_shorten(info.code)}`"
        yield ""
        for origin in described.origins:
            yield f"- {_describe_origin(origin, analysis, locations, uri)}"
        if described.symbolic:
            yield "- with arguments that nobody knows"
        yield ""


def _describe_origin(origin: DeviceOrigin, analysis: FileAnalysis, locations: LocationMap, uri: str) -> str:
    """Return a Markdown sentence that tells where the device of a value comes from, with a link to that line."""
    region, since = analysis.region_of(origin), ""
    if region is not None:
        location = locations.location(region)
        line = locations.describe_line(region, uri)
        since = f" since [{line}]({location.uri}#L{location.range.start.line + 1})"
    return f"{origin.device}, {origin.basis}{since}{f': {origin.message}' if origin.message else ''}"


def _shorten(code: str) -> str:
    """Return source code made fit for a Markdown code span: each backtick becomes a quote, and long code is cut."""
    code = code.replace("`", "'")
    return cut_at_end(code, MAX_CODE_LENGTH)
