"""Writes to the base heap: the heap objects of code that runs once per analysis, such as a module's top level."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devlint.interpreter.state.frame import Frame


@contextmanager
def write_to_base_heap(frame: Frame) -> Iterator[None]:
    """Copy what `frame` writes to its heap inside the `with` block to the base heap, which all paths see.

    Paths that split off earlier see these writes as well.
    """
    before = frame.state.heap.fork()
    yield
    for address, thing in frame.state.heap.written_since(before):
        frame.analysis.base_heap.put(address, thing)
