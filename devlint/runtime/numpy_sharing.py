"""Runtime checks for tensors that are changed through a NumPy array on the same memory, and used afterwards.

Torch does not notice such a change.
"""

from __future__ import annotations

import torch

from devlint.runtime.call_sites import Site, user_site
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol
from devlint.runtime.storage_labels import HOST, Placement, StorageWatch, label_of, label_tensor

MAX_COMPARED_BYTES = 1 << 20
"""The size in bytes above which a tensor is not compared with its earlier values."""


def write_count(tensor: torch.Tensor) -> int | None:
    """Return how often operators have written to a tensor, as torch counts it in the tensor's version counter.

    Returns None for a tensor made in inference mode, where torch does not count.
    """
    return None if tensor.is_inference() else tensor._version


class NumpyExport(StorageWatch):
    """The values that a tensor had when a NumPy array began to share its storage, kept to find later changes."""

    __slots__ = ("geometry", "site", "values")

    def __init__(self, tensor: torch.Tensor, site: Site | None) -> None:
        self.site = site
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            self.values = tensor.detach().clone()
        self.geometry = (tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, write_count(tensor))

    def changed(self, tensor: torch.Tensor) -> bool:
        """Return whether the storage has other values than when it was shared, although no operator wrote to it.

        `tensor` is any view of the storage.
        """
        shape, stride, offset, dtype, version = self.geometry
        if write_count(tensor) != version or tensor.dtype is not dtype:
            return False
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            return not torch.equal(tensor.detach().as_strided(shape, stride, offset), self.values)


def watch_numpy_export(session: SessionProtocol, tensor: torch.Tensor) -> None:
    """Start to watch a host tensor that now shares its memory with a NumPy array, by keeping a copy of its values.

    Large tensors, sparse tensors and tensors made in inference mode are not watched.
    """
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
    """Report a tensor that is used after its memory was changed through the NumPy array that shares the memory.

    Returns True if the storage need not be watched any longer: after a report, or once an operator has written to it.
    """
    if not export.changed(tensor):
        return write_count(tensor) != export.geometry[4]
    message = "this array shares the tensor's memory; the tensor was changed through it and is used afterwards"
    session.observe(Observation("DEV204", message, export.site))
    return True
