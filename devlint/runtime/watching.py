"""The dispatch mode that only watches: every operator, transfer and wait on whatever devices there really are."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.labels import Place, cell_of, put
from devlint.runtime.mishaps import mishap
from devlint.runtime.policy import WAITS
from devlint.runtime.recorder import TransferKind
from devlint.runtime.session import Session
from devlint.runtime.sites import site_of, user_frame

_Base: Any = TorchDispatchMode
_names: dict[Any, tuple[str, str | None, bool]] = {}


def _facts(func: Any) -> tuple[str, str | None, bool]:
    known = _names.get(func)
    if known is None:
        name = func._schema.name.partition("::")[2]
        waits = WAITS.get(name) or ("size" if torch.Tag.dynamic_output_shape in func.tags else None)
        tensors = any("Tensor" in str(argument.type) for argument in func._schema.arguments)
        known = _names[func] = (name, waits, not tensors)
    return known


class WatchingMode(_Base):  # type: ignore[misc]
    """Changes nothing; tells the recorders."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One operator, below autograd."""
        kwargs = kwargs or {}
        session = self.session
        name, waits, factory = _facts(func)
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            mishap(session, error, args, kwargs)
            raise
        frame = user_frame(2)
        for recorder in session.recorders:
            recorder.operator(name, frame)
        if factory and isinstance(out, torch.Tensor):
            put(out, Place(out.device, f"created on {out.device} by {name}", site_of(frame)))
        elif name in ("_to_copy", "copy_"):
            self._copied(name, out, args, kwargs, frame)
        elif waits is not None and args and isinstance(args[0], torch.Tensor) and args[0].device.type != "cpu":
            for recorder in session.recorders:
                recorder.wait(waits, frame)
        return out

    def _copied(self, name: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> None:
        source = args[1] if name == "copy_" else args[0]
        if source.device == out.device:
            return
        blocking = not (kwargs.get("non_blocking") or (name == "copy_" and len(args) > 2 and args[2]))
        pinned = source.device.type == "cpu" and source.is_pinned()
        kind = TransferKind(str(source.device), str(out.device), blocking, pinned, name)
        for recorder in self.session.recorders:
            recorder.transfer(kind, out.numel() * out.element_size(), 0.0, frame)
        if name == "_to_copy":
            before = cell_of(source)
            how = f"moved from {source.device} to {out.device}"
            put(out, Place(out.device, how, site_of(frame), before.place if before else None))
