"""Copies between the host and emulated devices, and between two of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from devlint.runtime import runtime_session, torch_errors
from devlint.runtime.call_sites import user_site
from devlint.runtime.recorder import TransferKind
from devlint.runtime.storage_labels import HOST, Cell, Place, cell_of, place_of, put
from devlint.runtime.stream_clocks import Transit, poison
from devlint.runtime.transfer_checks import Move

_copy: Callable[..., torch.Tensor] = torch.ops.aten._to_copy.default


def moved(
    tensor: torch.Tensor,
    target: torch.device,
    *,
    dtype: torch.dtype | None = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
    how: str = "to",
) -> torch.Tensor:
    """A copy of `tensor` on another device; gradients travel back the same way."""
    options = (target, dtype, non_blocking, memory_format, how)
    if (tensor.requires_grad and torch.is_grad_enabled()) or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        apply: Callable[..., torch.Tensor] = _Transfer.apply
        return apply(tensor, place_of(tensor).device, options)
    return _raw(tensor, options)


def _raw(tensor: torch.Tensor, options: tuple[Any, ...]) -> torch.Tensor:
    target, dtype, non_blocking, memory_format, how = options
    session = runtime_session.current()
    session.initialise()
    source = place_of(tensor)
    cell = cell_of(tensor) or put(tensor, Place(HOST, "on the host", None))
    if target.type == "mps" and (dtype or tensor.dtype) is torch.float64:
        raise torch_errors.mps_float64()
    with torch._C._DisableTorchDispatch():
        values = _delivered(tensor, cell)
        out = _copy(values, dtype=dtype, memory_format=memory_format or torch.preserve_format)
    site = user_site(2)
    place = Place(target, f"moved from {source.device} to {target} by .{how}()", site, source)
    put(out, place)
    pinned = cell is not None and cell.pinned
    tell(source, target, tensor, blocking=not non_blocking, pinned=pinned, how=how)
    follow(session, tensor, out, source, target, non_blocking=non_blocking, pinned=pinned)
    return out


def _delivered(tensor: torch.Tensor, cell: Cell | None) -> torch.Tensor:
    """What the device sees of a tensor: a copy that is under way to it is ordered before anything that follows."""
    transit = cell.watch if cell is not None else None
    if not isinstance(transit, Transit) or not transit.inbound:
        return tensor
    whole, part = transit.buffer, tensor.detach()
    if whole.data_ptr() == part.data_ptr() and whole.shape == part.shape:
        return transit.snapshot
    return transit.snapshot.as_strided(part.shape, part.stride(), part.storage_offset())


def tell(source: Place, target: torch.device, tensor: torch.Tensor, *, blocking: bool, pinned: bool, how: str) -> None:
    """Record a transfer, and look at what it gives away."""
    session = runtime_session.current()
    kind = TransferKind(str(source.device), str(target), blocking, pinned, how)
    session.transferred(kind, tensor.numel() * tensor.element_size())
    session.habits.look(session, Move(tensor, source, target, how, blocking, pinned))


def follow(
    session: runtime_session.Session,
    source_tensor: torch.Tensor,
    out: torch.Tensor,
    source: Place,
    target: torch.device,
    *,
    non_blocking: bool,
    pinned: bool,
) -> None:
    """What a copy means for the order of things: a blocking one waits, another one is under way from now on."""
    if source.key and target.type != "cpu":
        return
    device = source.device if source.key else target
    stream = session.streams.current(device)
    if not non_blocking:
        session.waited_for_copy(stream.clock)
        return
    site = user_site(3)
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        if target.type == "cpu":
            snapshot = out.detach().clone()
            poison(out.detach())
            cell = cell_of(out)
            if cell is not None:
                cell.pinned = True  # torch allocates the target of such a copy in pinned memory
            session.streams.begin(Transit(out, snapshot, True, stream, site), out)
        elif pinned:
            snapshot = source_tensor.detach().clone()
            session.streams.begin(Transit(source_tensor, snapshot, False, stream, site), source_tensor)


class _Transfer(torch.autograd.Function):
    """A differentiable copy to another device."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: torch.Tensor, home: torch.device, options: tuple[Any, ...]) -> torch.Tensor:
        return _raw(tensor, options)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        tensor, ctx.home, ctx.options = inputs
        ctx.dtype = tensor.dtype

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (gradient,) = gradients
        if place_of(gradient).device == ctx.home:
            return gradient.to(ctx.dtype), None, None
        return moved(gradient, ctx.home, dtype=ctx.dtype, how="backward"), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        target, dtype, _, _, how = ctx.options
        return moved(tangents[0], target, dtype=dtype, how=how)
