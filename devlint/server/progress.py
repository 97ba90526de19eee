"""Progress display of the first analysis, shown by the LSP client; later analyses are too short to show."""

from __future__ import annotations

import uuid

from lsprotocol import types
from pygls.lsp.server import LanguageServer


class StartupProgress:
    """A reporter of the progress of the first analysis to LSP clients that can show progress."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._token: str | None = None
        self._is_finished = False

    async def begin(self) -> None:
        """Ask the client to create a progress display, and start to report the progress of the first analysis to it."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress or self._is_finished:
            return
        token = str(uuid.uuid4())
        await self._server.work_done_progress.create_async(token)
        self._token = token
        begin = types.WorkDoneProgressBegin("devlint", message="looking at the program", percentage=0)
        self._server.work_done_progress.begin(token, begin)
        if self._is_finished:
            self._end()

    def update(self, done: int, of: int) -> None:
        """Report that `done` of `of` files are analysed; end the progress display when all of them are."""
        if self._is_finished or of == 0:
            return
        self._is_finished = done >= of
        if self._token is None:
            return
        if self._is_finished:
            self._end()
        else:
            report = types.WorkDoneProgressReport(message=f"{done} of {of} files", percentage=100 * done // of)
            self._server.work_done_progress.report(self._token, report)

    def _end(self) -> None:
        """Tell the client that the first analysis has ended."""
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._token = None
