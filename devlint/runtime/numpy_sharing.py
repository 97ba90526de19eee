"""Host memory that NumPy shares: is a tensor changed behind torch's back, and used afterwards?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from devlint.runtime.call_sites import Site, user_site
from devlint.runtime.recorder import Observation
from devlint.runtime.storage_labels import HOST, Place, cell_of, put

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import Session

LIMIT = 1 << 20
"""Larger tensors are not compared."""


def version_of(tensor: torch.Tensor) -> int | None:
    """How often operators have written to the tensor; None for one made in inference mode, where torch does not
    count."""
    return None if tensor.is_inference() else tensor._version


class Export:
    """A storage that NumPy sees, as it was when it was handed out."""

    __slots__ = ("alias", "before", "site")

    def __init__(self, tensor: torch.Tensor, site: Site | None) -> None:
        self.site = site
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            self.before = tensor.detach().clone()
        self.alias = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, version_of(tensor))

    def changed(self, tensor: torch.Tensor) -> bool:
        """Whether the memory differs although no operator wrote it. `tensor` is any view of the storage."""
        shape, stride, offset, dtype, version = self.alias
        if version_of(tensor) != version or tensor.dtype is not dtype:
            return False
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            return not torch.equal(tensor.detach().as_strided(shape, stride, offset), self.before)


def exported(session: Session, tensor: torch.Tensor) -> None:
    """Remember a host tensor whose memory NumPy now shares."""
    if not session.recorders or tensor.numel() * tensor.element_size() > LIMIT or tensor.layout is not torch.strided:
        return
    if version_of(tensor) is None:
        return
    cell = cell_of(tensor) or put(tensor, Place(HOST, "on the host", None))
    if cell is not None and cell.watch is None:
        cell.watch = Export(tensor, user_site(2))


def used_again(session: Session, export: Export, tensor: torch.Tensor) -> bool:
    """Report a tensor that is used after it was changed through NumPy; True once there is nothing more to watch."""
    if not export.changed(tensor):
        return version_of(tensor) != export.alias[4]
    message = "this array shares the tensor's memory; the tensor was changed through it and is used afterwards"
    session.observe(Observation("DEV204", message, export.site))
    return True
