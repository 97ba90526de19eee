"""What the analysis needs of the interpreter that runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from devlint.syntax.gc_pause import paused_gc

P = ParamSpec("P")
T = TypeVar("T")

RECURSION_LIMIT: Final = 20_000
"""Python frames the analysis may use: a call in the program costs some fifteen, and long chains of operators nest as
deep."""

FRAME: Final = 1 << 17
"""Slots of eight bytes that the outermost frame asks for: a mebibyte, of which it touches nothing."""


def with_deep_stack(work: Callable[P, T]) -> Callable[P, T]:
    """A function that works with syntax trees and recurses into them, with the room it takes.

    That is a recursion limit for deep programs, and no cyclic collector that walks millions of nodes again and again:
    they all live to the end.

    It is a wide frame as well. Since 3.11, CPython keeps frames in chunks of at least 16 KiB, asks the system for one
    whenever a call does not fit into the last, and gives it back when that call returns (`push_chunk` and
    `_PyThreadState_PopFrame` in `Python/pystate.c`). An analysis that goes up and down a thousand calls deep crosses
    such a border all the time. A frame too wide for half a chunk gets one whose other half has room for all that it
    calls.
    """

    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        try:
            with paused_gc():
                return work(*args, **kwargs)
        finally:
            sys.setrecursionlimit(limit)

    inside.__code__ = inside.__code__.replace(co_stacksize=FRAME)
    return wraps(work)(inside)
