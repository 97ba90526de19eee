"""Patch for DataLoader workers: a note in the report says that what these processes do is not recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils.data import dataloader

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

WORKERS_NOTE = "DataLoader workers: what happens in other processes is not recorded, but an error that ends one is"
"""The note on DataLoader workers in the report."""


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Patch the DataLoader so that the report gets a note whenever a DataLoader starts worker processes."""
    kind: Any = dataloader._MultiProcessingDataLoaderIter
    start = kind.__init__

    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        for recorder in session.recorders:
            recorder.add_note(WORKERS_NOTE)
        start(self, *args, **kwargs)

    patcher.replace(kind, "__init__", noting)
