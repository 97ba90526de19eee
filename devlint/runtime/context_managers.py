"""`emulate()` and `record()`: run a stretch of a program on emulated devices, or watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from devlint.runtime import rng, runtime_session
from devlint.runtime.emulation_mode import PlacementMode
from devlint.runtime.error_reports import escaped
from devlint.runtime.patches import install
from devlint.runtime.recorder import Recorder
from devlint.runtime.recording_mode import WatchingMode
from devlint.runtime.recording_report import Report
from devlint.runtime.runtime_session import KINDS, Session
from devlint.runtime.sync_debug import Witness


@contextmanager
def emulate(devices: int = 1, kind: str = "cuda") -> Iterator[Session]:
    """Run the block as if `devices` accelerators of a kind were there.

    Inside another `emulate()` of the same kind and count nothing changes; other counts or kinds are refused.
    """
    if kind not in KINDS:
        raise ValueError(f"devlint emulates {' and '.join(KINDS)}, not {kind!r}")
    if runtime_session.active is not None and runtime_session.active.kind is not None:
        if (runtime_session.active.kind, runtime_session.active.count) != (kind, devices):
            raise RuntimeError(
                f"already emulating {runtime_session.active.count} device(s) of kind {runtime_session.active.kind}"
            )
        yield runtime_session.active
        return
    with _running(Session(kind, devices)) as session:
        yield session


@contextmanager
def record() -> Iterator[Report]:
    """Record what the block does; the report can be read while it runs and afterwards. Recordings may be nested."""
    recorder = Recorder()
    with (
        _running(Session(None, 0)) if runtime_session.active is None else nullcontext(runtime_session.active) as session
    ):
        session.recorders.append(recorder)
        try:
            yield Report(recorder)
        except BaseException as error:
            escaped(session, error)
            raise
        finally:
            session.recorders.remove(recorder)
            recorder.finish()


@contextmanager
def _running(session: Session) -> Iterator[Session]:
    outer = runtime_session.active
    if outer is not None:
        session.recorders.extend(outer.recorders)
    torch.utils._device._device_constructors()  # remembers the functions themselves, before they are replaced
    runtime_session.active = session

    witness = Witness(session)

    def mode() -> AbstractContextManager[object]:
        return PlacementMode(session) if session.kind is not None else WatchingMode(session, witness)

    try:
        patches = install(session, mode)
        try:
            with mode():
                yield session
        finally:
            session.end()
            witness.stop()
            patches.undo()
            rng.rejoin()
    finally:
        runtime_session.active = outer
