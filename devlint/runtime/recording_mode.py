"""The torch dispatch mode that records operators, transfers and waits of the host on real devices."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.call_sites import called_by_user, site_of, user_frame
from devlint.runtime.error_reports import report_operator_error
from devlint.runtime.operator_plans import has_float64, waits_for
from devlint.runtime.recorder import TransferKind
from devlint.runtime.runtime_session import RuntimeSession
from devlint.runtime.storage_labels import Placement, label_of, label_tensor
from devlint.runtime.sync_debug import SyncDebugListener
from devlint.runtime.wrapped_numbers import tensors_for_refused_numbers

_cuda: Any = torch.cuda
_COPIES = frozenset({"_to_copy", "copy_"})
_Base: Any = TorchDispatchMode
_known_facts: dict[Any, tuple[str, str | None, bool]] = {}
"""Facts about operators, by overload."""


def _operator_facts(func: Any) -> tuple[str, str | None, bool]:
    """Return an operator's name, the name of the wait that it causes or None, and whether it takes no tensors.

    An operator that takes no tensors creates them.
    """
    known = _known_facts.get(func)
    if known is None:
        name = func._schema.name.partition("::")[2]
        tensors = any("Tensor" in str(argument.type) for argument in func._schema.arguments)
        known = _known_facts[func] = (name, waits_for(func), not tensors)
    return known


class RecordingMode(_Base):  # type: ignore[misc]
    """Torch dispatch mode that runs every operator unchanged on real devices and tells the recorders about it."""

    def __init__(self, session: RuntimeSession, sync_debug_listener: SyncDebugListener) -> None:
        super().__init__()
        self.session = session
        self.sync_debug_listener = sync_debug_listener

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Return True, so that torch compiles graphs and runs them as it does when this mode is not active.

        What runs outside of compiled graphs is still recorded.
        """
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator unchanged, and return its result.

        The operator is recorded, with the transfer or the wait of the host that it causes.
        """
        kwargs = kwargs or {}
        session = self.session
        name, waits, factory = _operator_facts(func)
        clock = _Stopwatch() if waits is not None or name in _COPIES else None
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            tensors = tensors_for_refused_numbers(func, args, error)
            if tensors is not None:
                return self.__torch_dispatch__(func, types, tensors, kwargs)
            report_operator_error(session, error, args, kwargs)
            raise
        frame = user_frame(2)
        on_device = any(map(_on_device, args)) or _on_device(out)
        if on_device:
            self.sync_debug_listener.start()
        promoted = (
            on_device and _on_device(out) and out.dtype is torch.float64 and not has_float64(args) and called_by_user()
        )
        for recorder in session.recorders:
            recorder.record_operator(name, frame, on_device)
            if promoted:
                recorder.record_promotion(frame)
        if factory and isinstance(out, torch.Tensor):
            label_tensor(out, Placement(out.device, f"created on {out.device} by {name}", site_of(frame)))
        elif clock is not None and name in _COPIES:
            self._record_copy(name, out, args, kwargs, frame, clock)
        elif clock is not None and args and _on_device(args[0]):
            for recorder in session.recorders:
                recorder.record_wait(waits or name, frame, clock.waited())
        return out

    def _record_copy(
        self, name: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any, clock: _Stopwatch
    ) -> None:
        """Tell the recorders about an operator that copies tensors, if it copied to another device.

        A new tensor is labelled with its device and history.
        """
        source = args[1] if name == "copy_" else args[0]
        if source.device == out.device:
            return
        blocking = not (kwargs.get("non_blocking") or (name == "copy_" and len(args) > 2 and args[2]))
        pinned = source.device.type == "cpu" and source.is_pinned()
        kind = TransferKind(str(source.device), str(out.device), blocking, pinned, name)
        for recorder in self.session.recorders:
            recorder.record_transfer(kind, out.numel() * out.element_size(), clock.copied(), frame)
        if name == "_to_copy":
            before = label_of(source)
            how = f"moved from {source.device} to {out.device}"
            label_tensor(out, Placement(out.device, how, site_of(frame), before.place if before else None))


def _on_device(value: Any) -> bool:
    """Return whether a value is a tensor on an accelerator."""
    return isinstance(value, torch.Tensor) and not value.is_cpu


class _Stopwatch:
    """Timer for one copy between devices or one wait of the host, started when it is created.

    CUDA events measure the time on the device; the host's clock measures how long the host waited.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._event: Any = None
        if _cuda.is_available() and _cuda.is_initialized():
            self._event = _cuda.Event(enable_timing=True)
            self._event.record()

    def waited(self) -> float:
        """Return the seconds that have passed on the host's clock since the stopwatch was started."""
        return time.perf_counter() - self._start

    def copied(self) -> float:
        """Return the seconds since the start that the device needed for the copy; without CUDA, the host's seconds.

        This waits for the end of the copy, which happens only while recording.
        """
        if self._event is None:
            return self.waited()
        end = _cuda.Event(enable_timing=True)
        end.record()
        end.synchronize()
        return float(self._event.elapsed_time(end)) / 1000.0
