"""Diagnostics for clients that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lsprotocol import types

from devlint.server.server import DevlintServer


async def pull(
    server: DevlintServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """The findings in one document, once everything that has changed has been looked at."""
    await server.analyst.rested()
    return server.reports.document(params.text_document.uri, params.previous_result_id)


async def pull_workspace(
    server: DevlintServer, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """The findings in all files: those in open ones as soon as may be, the others when all have been looked at."""
    known = {one.uri: one.value for one in params.previous_result_ids}
    token = params.partial_result_token
    with _shown(server, params.work_done_token):
        await server.analyst.rested()
        if token is not None:
            items = [*server.reports.workspace(known)]
            known |= {one.uri: one.result_id for one in items if one.result_id is not None}
            server.progress(types.ProgressParams(token, types.WorkspaceDiagnosticReportPartialResult(items)))
        await server.analyst.finished()
    items = [*server.reports.workspace(known)]
    if token is not None:
        items = [one for one in items if isinstance(one, types.WorkspaceFullDocumentDiagnosticReport)]
    return types.WorkspaceDiagnosticReport(items)


@contextmanager
def _shown(server: DevlintServer, token: types.ProgressToken | None) -> Iterator[None]:
    """Tell the client how far the work is, at the place that it has given for that."""
    if token is None:
        yield
        return
    progress = server.work_done_progress

    def tell(done: int, of: int) -> None:
        told = types.WorkDoneProgressReport(message=f"{done} of {of} files", percentage=100 * done // max(of, 1))
        progress.report(token, told)

    progress.begin(token, types.WorkDoneProgressBegin("devlint", message="looking at the workspace", percentage=0))
    server.spectators.append(tell)
    try:
        yield
    finally:
        server.spectators.remove(tell)
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)
