"""Copies of tensors between the host and emulated devices, and between emulated devices.

Each copy is recorded, and checked for waste and risk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch

from devlint.runtime import runtime_session
from devlint.runtime.call_sites import user_site
from devlint.runtime.recorder import TransferKind
from devlint.runtime.storage_labels import HOST, Placement, StorageLabel, label_of, label_tensor, placement_of
from devlint.runtime.stream_clocks import PendingCopy, poison
from devlint.runtime.transfer_checks import Transfer

_copy: Callable[..., torch.Tensor] = torch.ops.aten._to_copy.default


def copy_to_device(
    tensor: torch.Tensor,
    target: torch.device,
    *,
    dtype: torch.dtype | None = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
    how: str = "to",
) -> torch.Tensor:
    """Return a copy of a tensor on another device, emulated or the host; a backward pass moves the gradient back.

    `how` is the name of the method that asked for the copy, for messages.
    """
    options = (target, dtype, non_blocking, memory_format, how)
    if (tensor.requires_grad and torch.is_grad_enabled()) or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        apply: Callable[..., torch.Tensor] = _Transfer.apply
        return apply(tensor, placement_of(tensor).device, options)
    return _copy_without_grad(tensor, options)


def _copy_without_grad(tensor: torch.Tensor, options: tuple[Any, ...]) -> torch.Tensor:
    """Return a copy of a tensor on another device, made outside of autograd, and record the transfer."""
    target, dtype, non_blocking, memory_format, how = options
    session = runtime_session.current()
    session.initialize()
    source = placement_of(tensor)
    label = label_of(tensor) or label_tensor(tensor, Placement(HOST, "on the host", None))
    if target.type != "cpu":
        session.dtype_limits.check_made(dtype or tensor.dtype)
    with torch._C._DisableTorchDispatch():
        values = _values_on_stream(tensor, label)
        out = _copy(values, dtype=dtype, memory_format=memory_format or torch.preserve_format)
    site = user_site(2)
    place = Placement(target, _move_text(source.device, target, how), site, source)
    label_tensor(out, place)
    pinned = label is not None and label.pinned
    record_transfer(source, target, tensor, blocking=not non_blocking, pinned=pinned, how=how)
    track_completion(session, tensor, out, source, target, non_blocking=non_blocking, pinned=pinned)
    return out


@lru_cache(None)
def _move_text(source: torch.device, target: torch.device, how: str) -> str:
    """Return the text for the history of a tensor that the method `how` moved."""
    return f"moved from {source} to {target} by .{how}()"


@lru_cache(None)
def _transfer_kind(source: torch.device, target: torch.device, blocking: bool, pinned: bool, how: str) -> TransferKind:
    """Return the kind of a transfer between two devices; see there."""
    return TransferKind(str(source), str(target), blocking, pinned, how)


def _values_on_stream(tensor: torch.Tensor, label: StorageLabel | None) -> torch.Tensor:
    """Return the values that a tensor has for work on the emulated device's current stream.

    If a non-blocking copy into the tensor is pending, these are the values that the copy will deliver; otherwise they
    are the tensor's present values.
    """
    pending = label.watch if label is not None else None
    if not isinstance(pending, PendingCopy) or not pending.to_host:
        return tensor
    whole, part = pending.buffer, tensor.detach()
    if whole.data_ptr() == part.data_ptr() and whole.shape == part.shape:
        return pending.snapshot
    return pending.snapshot.as_strided(part.shape, part.stride(), part.storage_offset())


def record_transfer(
    source: Placement, target: torch.device, tensor: torch.Tensor, *, blocking: bool, pinned: bool, how: str
) -> None:
    """Record the transfer of a tensor to another device, and report what is wasteful or risky about the transfer."""
    session = runtime_session.current()
    if session.recorders:
        kind = _transfer_kind(source.device, target, blocking, pinned, how)
        session.record_transfer(kind, tensor.numel() * tensor.element_size())
    session.transfer_checker.check(session, Transfer(tensor, source, target, how, blocking, pinned))


def track_completion(
    session: runtime_session.RuntimeSession,
    source_tensor: torch.Tensor,
    out: torch.Tensor,
    source: Placement,
    target: torch.device,
    *,
    non_blocking: bool,
    pinned: bool,
) -> None:
    """Make the host wait for a blocking copy between host and device, or register a non-blocking copy as pending.

    A pending copy is one that nothing has waited for yet. Copies between two accelerators are ignored.
    """
    if source.key and target.type != "cpu":
        return
    device = source.device if source.key else target
    stream = session.streams.current(device)
    if not non_blocking:
        session.host_waited_for_copy(stream.clock)
        return
    site = user_site(3)
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        if target.type == "cpu":
            snapshot = out.detach().clone()
            poison(out.detach())
            label = label_of(out)
            if label is not None:
                label.pinned = True  # torch allocates the target of a non-blocking copy to the host in pinned memory
            session.streams.add_pending(PendingCopy(out, snapshot, True, stream, site), out)
        elif pinned:
            snapshot = source_tensor.detach().clone()
            session.streams.add_pending(PendingCopy(source_tensor, snapshot, False, stream, site), source_tensor)


class _Transfer(torch.autograd.Function):
    """Autograd function that copies a tensor to another emulated device, and the gradient back to the source device."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: torch.Tensor, home: torch.device, options: tuple[Any, ...]) -> torch.Tensor:
        return _copy_without_grad(tensor, options)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        tensor, ctx.home, ctx.options = inputs
        ctx.dtype = tensor.dtype

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (gradient,) = gradients
        if placement_of(gradient).device == ctx.home:
            return gradient.to(ctx.dtype), None, None
        return copy_to_device(gradient, ctx.home, dtype=ctx.dtype, how="backward"), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        target, dtype, _, _, how = ctx.options
        return copy_to_device(tangents[0], target, dtype=dtype, how=how)
