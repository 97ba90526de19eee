"""How far the first look at the program is: later ones are over before anybody could read of them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


class FirstLook:
    """Tells clients that can show it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._token: str | None = None
        self._over = False

    async def begin(self) -> None:
        """Ask the client for a place to show it."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress or self._over:
            return
        token = str(uuid.uuid4())
        await self._server.work_done_progress.create_async(token)
        self._token = token
        begin = types.WorkDoneProgressBegin("devlint", message="looking at the program", percentage=0)
        self._server.work_done_progress.begin(token, begin)
        if self._over:
            self._end()

    def tell(self, done: int, of: int) -> None:
        """So many files of so many are done."""
        if self._over or of == 0:
            return
        self._over = done >= of
        if self._token is None:
            return
        if self._over:
            self._end()
        else:
            report = types.WorkDoneProgressReport(message=f"{done} of {of} files", percentage=100 * done // of)
            self._server.work_done_progress.report(self._token, report)

    def _end(self) -> None:
        if self._token is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())
            self._token = None
