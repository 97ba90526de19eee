"""Pause Python's cyclic garbage collector while syntax trees are built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause cyclic garbage collection inside a `with` block.

    New syntax trees hold no garbage, and searching them for some would take longer than parsing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
