"""Code that runs once for the whole analysis: a file's top level, the body of a class, what registers definitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devlint.interpreter.state.frame import Run


@contextmanager
def once_for_all(run: Run) -> Iterator[None]:
    """What `run` writes to the heap inside is there on every path, those that have split off before included."""
    before = run.state.heap.fork()
    yield
    run.engine.shared.update(run.state.heap.written_since(before))
