"""A context manager that pauses Python's cyclic garbage collector while syntax trees are built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause Python's cyclic garbage collector inside a `with` block.

    Newly built syntax trees hold no garbage, and searching them for some would take longer than parsing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
