"""Patches for data parallel modules: those of one device or process work, others raise NotEmulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import comm

from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import HOST

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace torch's functions that split tensors over devices and join them, and the makers of data parallel modules.

    The replacements do for one emulated device what torch does in C++ for CUDA devices.
    """
    parallel_init: Any = torch.nn.DataParallel.__init__
    distributed_init: Any = torch.nn.parallel.DistributedDataParallel.__init__

    def scatter(
        tensor: torch.Tensor,
        devices: Sequence[Any] | None = None,
        chunk_sizes: Sequence[int] | None = None,
        dim: int = 0,
        streams: Any = None,
        *,
        out: Any = None,
    ) -> tuple[torch.Tensor, ...]:
        if out is not None or devices is None or len(devices) != 1:
            raise NotEmulated("splitting a tensor over several devices")
        return (tensor.to(session.resolve(devices[0])).contiguous(),)

    def gather(
        tensors: Sequence[torch.Tensor], dim: int = 0, destination: Any = None, *, out: Any = None
    ) -> torch.Tensor:
        if out is not None or len(tensors) != 1:
            raise NotEmulated("joining tensors of several devices")
        if destination == -1:  # torch's old way to say the host
            return tensors[0].to(HOST)
        return tensors[0].to(session.resolve(session.kind if destination is None else destination))

    def make_parallel(self: Any, *args: Any, **kwargs: Any) -> None:
        parallel_init(self, *args, **kwargs)
        if len(self.device_ids) > 1:
            raise NotEmulated("torch.nn.DataParallel on several devices")

    def make_distributed(self: Any, *args: Any, **kwargs: Any) -> None:
        if torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1:
            raise NotEmulated("torch.nn.parallel.DistributedDataParallel of several processes")
        distributed_init(self, *args, **kwargs)

    patcher.replace(comm, "scatter", scatter)
    patcher.replace(comm, "gather", gather)
    patcher.replace(torch.nn.DataParallel, "__init__", make_parallel)
    patcher.replace(torch.nn.parallel.DistributedDataParallel, "__init__", make_distributed)
