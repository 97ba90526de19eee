"""Scheduling of the language server's analyses: shortly after the last change, in one thread, one at a time."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from devlint.server.analysis_session import AnalysisJob, AnalysisResult, AnalysisSession, CancellationToken
from devlint.server.fix_all import FixRequest, fixed_texts

DEBOUNCE: Final = 0.1
"""The seconds without a further change after which an analysis starts."""

STACK_SIZE: Final = 128 * 1024 * 1024
"""The stack size of the analysis thread in bytes: deeply nested code is analysed recursively."""


class AnalysisScheduler:
    """A scheduler that runs an analysis after every change of the program in the editor.

    The analysis itself runs in a thread of its own. Everything else, the callbacks included, runs on the event loop.
    """

    def __init__(
        self,
        make_job: Callable[[], AnalysisJob],
        deliver: Callable[[AnalysisResult, bool], None],
        progress: Callable[[int, int], None],
        fail: Callable[[Exception], None],
    ) -> None:
        """Set the callbacks of the scheduler.

        `make_job` returns the job to analyse. `deliver` takes the result of an analysis and whether that result is
        final. `progress` takes the number of analysed files and the number of all files. `fail` takes an unexpected
        exception of an analysis.
        """
        self._make_job = make_job
        self._deliver = deliver
        self._progress = progress
        self._fail = fail
        self._session = AnalysisSession()
        self._token = CancellationToken()
        self._timer: asyncio.TimerHandle | None = None
        self._generation = 0
        self._heap_frozen = False
        self._is_running = False
        self._open_files_done = asyncio.Event()
        self._open_files_done.set()
        self._all_files_done = asyncio.Event()
        self._all_files_done.set()
        self._thread = _analysis_thread()

    async def wait_for_open_files(self) -> None:
        """Wait until the analysis results for all files that are open in the editor are up to date."""
        await self._open_files_done.wait()

    async def wait_for_all_files(self) -> None:
        """Wait until the analysis results for all files to report findings on, open or not, are up to date."""
        await self._all_files_done.wait()

    def schedule(self, delay: float = DEBOUNCE) -> None:
        """Cancel the running analysis, and start a new one once the given number of seconds has passed."""
        self._generation += 1
        self._open_files_done.clear()
        self._all_files_done.clear()
        self._token.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._start)

    async def fix_all(self, job: AnalysisJob, request: FixRequest) -> Sequence[str] | None:
        """Return the source texts of a program with all its safe fixes applied, computed in the analysis thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, fixed_texts, job, request)

    def close(self) -> None:
        """Cancel the running analysis, and start no further analyses."""
        if self._timer is not None:
            self._timer.cancel()
        self._token.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        """Start an analysis in the analysis thread, unless one is still running."""
        self._timer = None
        if self._is_running:
            return  # the running analysis has been cancelled, and `_finish` starts the next one
        self._is_running = True
        loop = asyncio.get_running_loop()
        generation, job = self._generation, self._make_job()
        self._token = CancellationToken()

        def report_progress(done: int, of: int) -> None:
            loop.call_soon_threadsafe(self._progress, done, of)

        def report(result: AnalysisResult, done: bool) -> None:
            loop.call_soon_threadsafe(self._deliver_if_current, generation, result, done)

        future = loop.run_in_executor(self._thread, self._session.analyse, job, self._token, report, report_progress)
        future.add_done_callback(lambda done: self._finish(generation, done))

    def _finish(self, generation: int, future: asyncio.Future[AnalysisResult | None]) -> None:
        """Handle the end of an analysis: deliver its result, or start the next one if the program has changed."""
        self._is_running = False
        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, Exception):
            self._fail(error)
            # The cached results may be the cause of the failure: start without them.
            self._session = AnalysisSession()
        current = generation == self._generation
        result = None if error is not None else future.result()
        if result is not None and not self._heap_frozen:
            # The syntax trees from the first analysis stay alive: exempt them from later garbage collections.
            self._heap_frozen = True
            gc.freeze()
        if result is not None:
            self._deliver_if_current(generation, result, True)
        if current:
            self._open_files_done.set()
            self._all_files_done.set()
        elif self._timer is None:
            self._start()

    def _deliver_if_current(self, generation: int, result: AnalysisResult, done: bool) -> None:
        """Pass an analysis result to the `deliver` callback, unless the program has changed in the meantime."""
        if generation == self._generation:
            self._deliver(result, done)
            if done:
                self._open_files_done.set()


def _analysis_thread() -> ThreadPoolExecutor:
    """Return an executor with a single thread, which has a stack large enough for the recursion of the analysis."""
    before = threading.stack_size(STACK_SIZE)
    try:
        executor = ThreadPoolExecutor(1, "devlint")
        executor.submit(int).result()  # the executor creates its thread on the first task, while the size is set
    finally:
        threading.stack_size(before)
    return executor
