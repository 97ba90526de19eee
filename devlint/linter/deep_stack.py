"""A decorator that lets a function recurse deeply: it raises CPython's recursion limit and avoids slowdowns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from devlint.syntax.gc_pause import paused_gc

P = ParamSpec("P")
T = TypeVar("T")

RECURSION_LIMIT: Final = 20_000
"""The number of Python frames that the analysis may use.

One call in the analysed program takes about fifteen, and long chains of operators nest as deeply.
"""

FRAME_SLOTS: Final = 1 << 17
"""The size of the outermost frame in slots of eight bytes: one mebibyte, which is reserved but never written."""


def with_deep_stack(work: Callable[P, T]) -> Callable[P, T]:
    """Return a function that runs `work` with enough stack to recurse into deep syntax trees.

    It raises the recursion limit for deep programs. It pauses the cyclic garbage collector, which would walk millions
    of nodes again and again, although all of them live until the end.

    It also runs `work` in a very wide frame. Since 3.11, CPython keeps frames in chunks of at least 16 KiB, asks the
    system for a new chunk whenever a call does not fit into the last one, and gives it back when that call returns
    (`push_chunk` and `_PyThreadState_PopFrame` in `Python/pystate.c`). An analysis whose call depth goes up and down by
    a thousand calls crosses chunk borders all the time. A frame wider than half a chunk gets a chunk whose other half
    has room for all the calls below it.
    """

    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work` in a wide stack frame, with a raised recursion limit and without cyclic garbage collection."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        try:
            with paused_gc():
                return work(*args, **kwargs)
        finally:
            sys.setrecursionlimit(limit)

    inside.__code__ = inside.__code__.replace(co_stacksize=FRAME_SLOTS)
    return wraps(work)(inside)
