"""Patches for clocks, which report time measurements of accelerator work that nothing waited for (DEV501).

Such a measurement tells only how long it took to launch the work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from devlint.runtime.call_sites import is_library, site_of
from devlint.runtime.recorder import Observation

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

CLOCK_FUNCTIONS = ("time", "perf_counter", "monotonic", "perf_counter_ns", "time_ns", "monotonic_ns", "process_time")
"""The functions of the module `time` that are patched."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace the clocks of the module `time`, such as `perf_counter`, to report wrong time measurements (DEV501).

    A measurement is wrong if operators were launched on the accelerator between two readings in one function and
    nothing waited for the last of them.
    """
    readings: dict[tuple[str, int], int] = {}

    def reading(original: Callable[[], float]) -> Callable[[], float]:
        def clock() -> float:
            frame = sys._getframe(1)
            code = frame.f_code
            if session.recorders and not is_library(code.co_filename):
                streams = session.streams
                key = (code.co_filename, id(frame))
                before = readings.get(key)
                if (
                    before is not None
                    and before < streams.launched_operators
                    and streams.launched_before_wait < streams.launched_operators
                ):
                    launched = streams.launched_operators - max(before, streams.launched_before_wait)
                    message = (
                        f"this clock is read {launched} accelerator operators after the last time anything waited: "
                        "it measures how long launching them took"
                    )
                    session.observe(Observation("DEV501", message, site_of(frame)))
                if len(readings) > 1000:
                    readings.clear()
                readings[key] = streams.launched_operators
            return original()

        return clock

    for name in CLOCK_FUNCTIONS:
        patcher.replace(time, name, reading(getattr(time, name)))
