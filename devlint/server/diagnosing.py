"""Diagnostics for clients that ask for them, and for those that want to be told."""

from __future__ import annotations

from lsprotocol import types

from devlint.server.server import DevlintServer


async def pull(
    server: DevlintServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """The findings in one document, once everything that has changed has been looked at."""
    await server.analyst.rested()
    found = server.diagnostics(params.text_document.uri)
    number = server.numbered(params.text_document.uri, found)
    if params.previous_result_id == number:
        return types.RelatedUnchangedDocumentDiagnosticReport(number)
    return types.RelatedFullDocumentDiagnosticReport(found, result_id=number)
