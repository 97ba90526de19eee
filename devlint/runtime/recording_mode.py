"""The dispatch mode that only watches: every operator, transfer and wait on whatever devices there really are."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.call_sites import site_of, user_frame
from devlint.runtime.error_reports import mishap
from devlint.runtime.operator_plans import has_float64, waits_for
from devlint.runtime.recorder import TransferKind
from devlint.runtime.runtime_session import Session
from devlint.runtime.storage_labels import Place, cell_of, put
from devlint.runtime.sync_debug import Witness

_cuda: Any = torch.cuda
_COPIES = frozenset({"_to_copy", "copy_"})
_Base: Any = TorchDispatchMode
_names: dict[Any, tuple[str, str | None, bool]] = {}


def _facts(func: Any) -> tuple[str, str | None, bool]:
    known = _names.get(func)
    if known is None:
        name = func._schema.name.partition("::")[2]
        tensors = any("Tensor" in str(argument.type) for argument in func._schema.arguments)
        known = _names[func] = (name, waits_for(func), not tensors)
    return known


class WatchingMode(_Base):  # type: ignore[misc]
    """Changes nothing; tells the recorders."""

    def __init__(self, session: Session, witness: Witness) -> None:
        super().__init__()
        self.session = session
        self.witness = witness

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Graphs are compiled and run as they are without this mode, which sees what happens outside of them."""
        return True

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One operator, below autograd."""
        kwargs = kwargs or {}
        session = self.session
        name, waits, factory = _facts(func)
        clock = _Clock() if waits is not None or name in _COPIES else None
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            mishap(session, error, args, kwargs)
            raise
        frame = user_frame(2)
        near = any(map(_on_device, args)) or _on_device(out)
        if near:
            self.witness.start()
        promoted = near and _on_device(out) and out.dtype is torch.float64 and not has_float64(args)
        for recorder in session.recorders:
            recorder.operator(name, frame, near=near)
            if promoted:
                recorder.promotion(frame)
        if factory and isinstance(out, torch.Tensor):
            put(out, Place(out.device, f"created on {out.device} by {name}", site_of(frame)))
        elif clock is not None and name in _COPIES:
            self._copied(name, out, args, kwargs, frame, clock)
        elif clock is not None and args and _on_device(args[0]):
            for recorder in session.recorders:
                recorder.wait(waits or name, frame, clock.waited())
        return out

    def _copied(
        self, name: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any, clock: _Clock
    ) -> None:
        source = args[1] if name == "copy_" else args[0]
        if source.device == out.device:
            return
        blocking = not (kwargs.get("non_blocking") or (name == "copy_" and len(args) > 2 and args[2]))
        pinned = source.device.type == "cpu" and source.is_pinned()
        kind = TransferKind(str(source.device), str(out.device), blocking, pinned, name)
        for recorder in self.session.recorders:
            recorder.transfer(kind, out.numel() * out.element_size(), clock.copied(), frame)
        if name == "_to_copy":
            before = cell_of(source)
            how = f"moved from {source.device} to {out.device}"
            put(out, Place(out.device, how, site_of(frame), before.place if before else None))


def _on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type != "cpu"


class _Clock:
    """Times one copy or wait: by CUDA events what the device took, by the host's clock how long the host waited."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._event: Any = None
        if _cuda.is_available() and _cuda.is_initialized():
            self._event = _cuda.Event(enable_timing=True)
            self._event.record()

    def waited(self) -> float:
        """Seconds that the host spent in the call."""
        return time.perf_counter() - self._start

    def copied(self) -> float:
        """Seconds that the copy took. Waiting for its end is the price of the time, paid only while recording."""
        if self._event is None:
            return self.waited()
        end = _cuda.Event(enable_timing=True)
        end.record()
        end.synchronize()
        return float(self._event.elapsed_time(end)) / 1000.0
