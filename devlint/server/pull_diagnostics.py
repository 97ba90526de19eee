"""Handlers of the LSP requests with which a client pulls diagnostics from the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lsprotocol import types

from devlint.server.language_server import DevlintServer


async def pull_document(
    server: DevlintServer, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport | types.RelatedUnchangedDocumentDiagnosticReport:
    """Return the findings in one text, once the analysis of the open files is up to date."""
    await server.scheduler.wait_for_open_files()
    return server.publisher.document_report(params.text_document.uri, params.previous_result_id)


async def pull_workspace(
    server: DevlintServer, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """Return the findings in all files of the workspace, once the analysis of all these files is up to date.

    If the client takes partial results, the findings in open files are sent as soon as these files are analysed.
    """
    known = {one.uri: one.value for one in params.previous_result_ids}
    token = params.partial_result_token
    with _work_done_progress(server, params.work_done_token):
        await server.scheduler.wait_for_open_files()
        if token is not None:
            items = [*server.publisher.workspace_reports(known)]
            known |= {one.uri: one.result_id for one in items if one.result_id is not None}
            server.progress(types.ProgressParams(token, types.WorkspaceDiagnosticReportPartialResult(items)))
        await server.scheduler.wait_for_all_files()
    items = [*server.publisher.workspace_reports(known)]
    if token is not None:
        items = [one for one in items if isinstance(one, types.WorkspaceFullDocumentDiagnosticReport)]
    return types.WorkspaceDiagnosticReport(items)


@contextmanager
def _work_done_progress(server: DevlintServer, token: types.ProgressToken | None) -> Iterator[None]:
    """Report the progress of the analysis to the client while a `with` block runs.

    The reports carry the progress token that the client has sent with its request; without a token, report nothing.
    """
    if token is None:
        yield
        return
    progress = server.work_done_progress

    def report(done: int, of: int) -> None:
        message = types.WorkDoneProgressReport(message=f"{done} of {of} files", percentage=100 * done // max(of, 1))
        progress.report(token, message)

    progress.begin(token, types.WorkDoneProgressBegin("devlint", message="looking at the workspace", percentage=0))
    server.progress_listeners.append(report)
    try:
        yield
    finally:
        server.progress_listeners.remove(report)
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)
