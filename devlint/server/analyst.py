"""Who looks at the program, and when: a little after the last change, in a thread of its own, once at a time."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from devlint.server.mending import Order, mended
from devlint.server.session import Job, Look, Session, Ticket

DEBOUNCE: Final = 0.1
"""Seconds without a further change after which somebody who types is taken to pause."""

STACK: Final = 128 * 1024 * 1024
"""Bytes of stack: deep code is analysed recursively, and a thread has little of its own accord."""


class Analyst:
    """Looks at the program after every change. All but the looking happens on the event loop."""

    def __init__(
        self,
        make_job: Callable[[], Job],
        deliver: Callable[[Look, bool], None],
        progress: Callable[[int, int], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._make_job = make_job
        self._deliver = deliver
        self._progress = progress
        self._fail = fail
        self._session = Session()
        self._ticket = Ticket()
        self._timer: asyncio.TimerHandle | None = None
        self._wanted = 0
        self._settled = False
        self._running = False
        self._rest = asyncio.Event()
        self._rest.set()
        self._end_of_work = asyncio.Event()
        self._end_of_work.set()
        self._thread = _one_thread()

    async def rested(self) -> None:
        """Wait until everything that has changed has been looked at, in open files at least."""
        await self._rest.wait()

    async def finished(self) -> None:
        """Wait until there is nothing left to look at."""
        await self._end_of_work.wait()

    def change(self, delay: float = DEBOUNCE) -> None:
        """Something has changed: what is being looked at is out of date."""
        self._wanted += 1
        self._rest.clear()
        self._end_of_work.clear()
        self._ticket.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._begin)

    async def mend(self, job: Job, order: Order) -> Sequence[str] | None:
        """The texts of a program after all safe fixes, worked out where the looking is done."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, mended, job, order)

    def close(self) -> None:
        """Look at nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._ticket.stop()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> None:
        self._timer = None
        if self._running:
            return  # It is told to stop, and begins anew when it has.
        self._running = True
        loop = asyncio.get_running_loop()
        number, job = self._wanted, self._make_job()
        self._ticket = Ticket()

        def advance(done: int, of: int) -> None:
            loop.call_soon_threadsafe(self._progress, done, of)

        def tell(look: Look, done: bool) -> None:
            loop.call_soon_threadsafe(self._hand_over, number, look, done)

        future = loop.run_in_executor(self._thread, self._session.look, job, self._ticket, tell, advance)
        future.add_done_callback(lambda done: self._end(number, done))

    def _end(self, number: int, future: asyncio.Future[Look | None]) -> None:
        self._running = False
        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, Exception):
            self._fail(error)
            # What is remembered may be what it failed on.
            self._session = Session()
        current = number == self._wanted
        look = None if error is not None else future.result()
        if look is not None and not self._settled:
            # What the first look has read stays: the collector need not search it again while somebody types.
            self._settled = True
            gc.freeze()
        if look is not None:
            self._hand_over(number, look, True)
        if current:
            self._rest.set()
            self._end_of_work.set()
        elif self._timer is None:
            self._begin()

    def _hand_over(self, number: int, look: Look, done: bool) -> None:
        """Give what was seen to those who wait for it, unless something has changed since."""
        if number == self._wanted:
            self._deliver(look, done)
            if done:
                self._rest.set()


def _one_thread() -> ThreadPoolExecutor:
    before = threading.stack_size(STACK)
    try:
        executor = ThreadPoolExecutor(1, "devlint")
        executor.submit(int).result()  # the thread starts with the first thing it is given
    finally:
        threading.stack_size(before)
    return executor
