"""Code that runs once for the whole analysis: a file's top level, the body of a class, what registers definitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devlint.interpreter.state.frame import Frame


@contextmanager
def write_to_base_heap(frame: Frame) -> Iterator[None]:
    """What `frame` writes to the heap inside is there on every path, those that have split off before included."""
    before = frame.state.heap.fork()
    yield
    frame.analysis.base_heap.update(frame.state.heap.written_since(before))
