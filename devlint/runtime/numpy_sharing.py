"""Host memory that NumPy shares: is a tensor changed behind torch's back, and used afterwards?"""

from __future__ import annotations

import torch

from devlint.runtime.call_sites import Site, user_site
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol
from devlint.runtime.storage_labels import HOST, Placement, StorageWatch, label_of, label_tensor

MAX_COMPARED_BYTES = 1 << 20
"""Larger tensors are not compared."""


def write_count(tensor: torch.Tensor) -> int | None:
    """How often operators have written to the tensor; None for one made in inference mode, where torch does not
    count."""
    return None if tensor.is_inference() else tensor._version


class NumpyExport(StorageWatch):
    """A storage that NumPy sees, as it was when it was handed out."""

    __slots__ = ("geometry", "site", "values")

    def __init__(self, tensor: torch.Tensor, site: Site | None) -> None:
        self.site = site
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            self.values = tensor.detach().clone()
        self.geometry = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, write_count(tensor))

    def changed(self, tensor: torch.Tensor) -> bool:
        """Whether the memory differs although no operator wrote it. `tensor` is any view of the storage."""
        shape, stride, offset, dtype, version = self.geometry
        if write_count(tensor) != version or tensor.dtype is not dtype:
            return False
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            return not torch.equal(tensor.detach().as_strided(shape, stride, offset), self.values)


def watch_numpy_export(session: SessionProtocol, tensor: torch.Tensor) -> None:
    """Remember a host tensor whose memory NumPy now shares."""
    if (
        not session.recorders
        or tensor.numel() * tensor.element_size() > MAX_COMPARED_BYTES
        or tensor.layout is not torch.strided
    ):
        return
    if write_count(tensor) is None:
        return
    label = label_of(tensor) or label_tensor(tensor, Placement(HOST, "on the host", None))
    if label is not None and label.watch is None:
        label.watch = NumpyExport(tensor, user_site(2))


def report_change_through_numpy(session: SessionProtocol, export: NumpyExport, tensor: torch.Tensor) -> bool:
    """Report a tensor that is used after it was changed through NumPy; True once there is nothing more to watch."""
    if not export.changed(tensor):
        return write_count(tensor) != export.geometry[4]
    message = "this array shares the tensor's memory; the tensor was changed through it and is used afterwards"
    session.observe(Observation("DEV204", message, export.site))
    return True
