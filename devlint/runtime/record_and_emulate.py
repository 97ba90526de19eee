"""The public context managers `emulate()`, which emulates accelerators, and `record()`, which records a program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from devlint.runtime import rng, runtime_session
from devlint.runtime.backends import BACKENDS
from devlint.runtime.emulation_mode import EmulationMode
from devlint.runtime.error_reports import report_uncaught_error
from devlint.runtime.patches import absent_backends, dispatch_costs, install
from devlint.runtime.patches.npu_module import name_private_backend
from devlint.runtime.patches.patcher import Patcher
from devlint.runtime.recorder import Recorder
from devlint.runtime.recording_mode import RecordingMode
from devlint.runtime.recording_report import Report
from devlint.runtime.runtime_session import RuntimeSession
from devlint.runtime.sync_debug import SyncDebugListener
from devlint.runtime.training_steps import steps_counted_by


@contextmanager
def emulate(devices: int = 1, kind: str = "cuda") -> Iterator[RuntimeSession]:
    """Context manager that emulates accelerators of one kind while its block runs: "cuda", "xpu", "mps" or "npu".

    Inside another `emulate()` of the same kind and number of devices, the outer session is used; any other kind or
    number raises RuntimeError.
    """
    if kind not in BACKENDS:
        raise ValueError(f"devlint emulates {', '.join(BACKENDS)}, not {kind!r}")
    if BACKENDS[kind].single and devices != 1:
        raise ValueError(f"there is only one {kind} device in a machine, not {devices}")
    outer = runtime_session.active
    if outer is not None and outer.kind is not None:
        if (outer.kind, outer.device_count) != (kind, devices):
            raise RuntimeError(f"already emulating {outer.device_count} device(s) of kind {outer.kind}")
        yield outer
        return
    if kind == "npu":
        name_private_backend(kind)
    with _active_session(RuntimeSession(kind, devices)) as session:
        yield session


@contextmanager
def without_accelerators() -> Iterator[None]:
    """Context manager in whose block torch says that there is no accelerator, as on a machine without one."""
    patcher = Patcher()
    try:
        absent_backends.install(None, patcher)
        yield
    finally:
        patcher.undo()


@contextmanager
def record() -> Iterator[Report]:
    """Context manager that records the torch operators, transfers and waits of its block; its value is the report.

    The report can be read while the block runs and afterwards. Recordings may be nested.
    """
    recorder = Recorder()
    with (
        _active_session(RuntimeSession(None, 0))
        if runtime_session.active is None
        else nullcontext(runtime_session.active) as session,
        steps_counted_by(recorder.steps),
    ):
        session.recorders.append(recorder)
        try:
            report = Report(recorder, emulated=session.kind is not None)
            report.without_accelerator = session.kind is None and not _is_built_for_accelerator()
            report.accelerator = f"the emulated {session.kind}" if session.kind is not None else ""
            report.without_cuda = report.without_accelerator or session.kind not in (None, "cuda")
            yield report
        except BaseException as error:
            report_uncaught_error(session, error)
            raise
        finally:
            session.recorders.remove(recorder)
            recorder.finish()


def _is_built_for_accelerator() -> bool:
    """Return whether torch names an accelerator; then none has to be there."""
    if not hasattr(torch, "accelerator"):
        return torch.version.cuda is not None
    return torch.accelerator.current_accelerator() is not None


@contextmanager
def _active_session(session: RuntimeSession) -> Iterator[RuntimeSession]:
    """Context manager that makes a session the active one: it patches torch and enters the session's dispatch mode.

    Both are undone at the end, and the session that was active before is active again.
    """
    outer = runtime_session.active
    if outer is not None:
        session.recorders.extend(outer.recorders)
    # The result is cached by torch; it must hold the original functions, not those that replace them.
    torch.utils._device._device_constructors()
    runtime_session.active = session

    sync_debug_listener = SyncDebugListener(session)

    def mode() -> AbstractContextManager[object]:
        return EmulationMode(session) if session.kind is not None else RecordingMode(session, sync_debug_listener)

    def again() -> AbstractContextManager[object]:
        return nullcontext() if runtime_session.active is session else _active_session(session)

    try:
        patches = install(session, mode, again)
        try:
            dispatch_costs.install(session, patches, EmulationMode if session.kind is not None else RecordingMode)
            with mode():
                yield session
        finally:
            session.deliver_pending_copies()
            sync_debug_listener.stop()
            patches.undo()
            rng.discard_device_states()
    finally:
        runtime_session.active = outer
