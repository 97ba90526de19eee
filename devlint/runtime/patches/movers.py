"""Methods that move tensors: `to`, `cuda`, `cpu`, `pin_memory`, and assignments that cross devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from devlint.runtime import errors
from devlint.runtime.discarded import look_for_discard
from devlint.runtime.labels import Place, cell_of, place_of, put
from devlint.runtime.patches.queries import device_of
from devlint.runtime.recorder import TransferKind
from devlint.runtime.sites import user_site
from devlint.runtime.transfers import moved

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.session import Session

_to = torch.Tensor.to
_clone = torch.Tensor.clone
_copy_ = torch.Tensor.copy_
_setitem = torch.Tensor.__setitem__


class Wish(NamedTuple):
    """What a call of `.to` asks for."""

    device: torch.device | None
    dtype: torch.dtype | None
    non_blocking: bool
    copy: bool
    memory_format: torch.memory_format | None


def wish(session: Session, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Wish:
    """Read the arguments of `.to` in any of its three forms."""
    rest = list(args)
    device = kwargs.get("device")
    dtype = kwargs.get("dtype")
    other = kwargs.get("other")
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
    elif rest and isinstance(rest[0], torch.dtype):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            dtype = rest.pop(0)
    if other is not None:
        device, dtype = device_of(other), other.dtype
    non_blocking = bool(rest.pop(0)) if rest else bool(kwargs.get("non_blocking", False))
    copy = bool(rest.pop(0)) if rest else bool(kwargs.get("copy", False))
    target = session.resolve(device) if device is not None else None
    return Wish(target, dtype, non_blocking, copy, kwargs.get("memory_format"))


def install(session: Session, patcher: Patcher) -> None:
    """Move labels where the user moves tensors."""

    def move(self: torch.Tensor, asked: Wish, how: str) -> torch.Tensor:
        here = device_of(self)
        target = asked.device
        options: dict[str, Any] = {"copy": asked.copy, "non_blocking": asked.non_blocking}
        if asked.memory_format is not None:
            options["memory_format"] = asked.memory_format
        if target is None or target == here:
            if asked.dtype is None and target is not None and not asked.copy:
                out = _to(self, self.dtype, **options)
            else:
                out = _to(self, asked.dtype or self.dtype, **options)
            if out is self and target is not None:
                kind = TransferKind(str(here), str(here), True, False, how)
                session.record(lambda recorder, frame: recorder.stay(kind, frame))
        elif target.type == "meta" or here.type not in ("cpu", session.kind):
            out = _to(self, device=target, dtype=asked.dtype, **options)
        elif target.type not in ("cpu", session.kind):
            raise errors.NotEmulated(f"the device {target}")
        else:
            out = moved(
                self,
                target,
                dtype=asked.dtype,
                non_blocking=asked.non_blocking,
                memory_format=asked.memory_format,
                how=how,
            )
        look_for_discard(session, how)
        return out

    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return move(self, wish(session, args, kwargs), "to")

    def cuda(
        self: torch.Tensor,
        device: Any = None,
        non_blocking: bool = False,
        memory_format: torch.memory_format | None = None,
    ) -> torch.Tensor:
        if session.kind != "cuda":
            raise AssertionError("Torch not compiled with CUDA enabled")
        target = session.resolve("cuda" if device is None else device)
        if target.type != "cuda":
            raise ValueError(f"Invalid device, must be cuda device but got {target}")
        return move(self, Wish(target, None, non_blocking, False, memory_format), "cuda")

    def cpu(self: torch.Tensor, memory_format: torch.memory_format | None = None) -> torch.Tensor:
        return move(self, Wish(torch.device("cpu"), None, False, False, memory_format), "cpu")

    def type_as(self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return move(self, Wish(device_of(other), other.dtype, False, False, None), "type_as")

    def pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        place = place_of(self)
        if place.key:
            raise errors.cannot_pin(errors.type_name(self.dtype, place.device))
        cell = cell_of(self)
        if cell is not None and cell.pinned:
            return self
        session.initialise()
        out = _clone(self)
        fresh = put(out, Place(place.device, "copied to pinned memory", user_site(), place))
        if fresh is not None:
            fresh.pinned = True
        return out

    def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
        cell = cell_of(self)
        return cell is not None and cell.pinned and not cell.place.key

    def brought(value: Any, target: torch.Tensor) -> Any:
        """A source that autograd has to follow is moved first, so that its gradient finds the way back."""
        if isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled():
            there = device_of(target)
            if device_of(value) != there:
                return moved(value, there, how="copy_")
        return value

    def copy_(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        return _copy_(self, brought(src, self), non_blocking)

    def setitem(self: torch.Tensor, key: Any, value: Any) -> None:
        _setitem(self, key, brought(value, self) if isinstance(value, torch.Tensor) and value.dim() == 0 else value)

    def new(self: torch.Tensor, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        out = _new(self, *args, **kwargs)
        put(out, Place(device_of(self), "created by .new()", user_site(), place_of(self)))
        return out

    _new = torch.Tensor.new
    for name, method in (
        ("to", to),
        ("cuda", cuda),
        ("cpu", cpu),
        ("type_as", type_as),
        ("pin_memory", pin_memory),
        ("is_pinned", is_pinned),
        ("copy_", copy_),
        ("__setitem__", setitem),
        ("new", new),
    ):
        patcher.replace(torch.Tensor, name, method)
