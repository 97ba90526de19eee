"""Everything in torch that has to know the labels; `install` puts it in place and returns the way back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from devlint.runtime.patches import (
    accelerator,
    assignments,
    autocast,
    clock,
    devices,
    factories,
    generators,
    handwritten,
    interop,
    movers,
    optimizers,
    pinning,
    queries,
    refusals,
    storages,
    threads,
    workers,
)
from devlint.runtime.patches.patcher import Patcher

if TYPE_CHECKING:
    from devlint.runtime.session import Session

_EMULATION = (
    queries,
    movers,
    pinning,
    assignments,
    storages,
    factories,
    interop,
    generators,
    accelerator,
    autocast,
    handwritten,
    optimizers,
    refusals,
    devices,
    clock,
)


def install(session: Session, mode: Callable[[], AbstractContextManager[Any]]) -> Patcher:
    """Put the patches of a session in place."""
    patcher = Patcher()
    try:
        if session.kind is not None:
            for module in _EMULATION:
                module.install(session, patcher)
        else:
            refusals.note_compilation(session, patcher)
        threads.install(patcher, mode)
        workers.install(session, patcher)
    except BaseException:
        patcher.undo()
        raise
    return patcher
