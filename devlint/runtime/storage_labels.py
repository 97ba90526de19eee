"""Which device a storage is taken to live on, and since when: one `Cell` per storage, kept by the storage itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from devlint.runtime.call_sites import Site

HOST = torch.device("cpu")
"""The host as a torch device."""
LABEL_ATTRIBUTE = "_devlint_label"
"""The attribute of a `torch.UntypedStorage` that holds its label."""
# The default on the class makes the look-up in the dispatch mode a plain attribute read.
setattr(torch.UntypedStorage, LABEL_ATTRIBUTE, None)

storage_of_dense = torch.Tensor.untyped_storage
_is_wrapper = torch._C._functorch.is_functorch_wrapped_tensor
_unwrap = torch._C._functorch.get_unwrapped


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One step of a tensor's story."""

    message: str
    site: Site | None


class Placement:
    """A device, how a tensor came to be there, and where it was before; results share their operands' place."""

    __slots__ = ("device", "how", "key", "parent", "site")

    def __init__(self, device: torch.device, how: str, site: Site | None, parent: Placement | None = None) -> None:
        self.device = device
        self.key = 0 if device.type == "cpu" else 1 + (device.index or 0)
        self.how = how
        self.site = site
        self.parent = parent

    def history(self) -> tuple[HistoryStep, ...]:
        """The story, oldest step first."""
        steps: list[HistoryStep] = []
        place: Placement | None = self
        while place is not None and len(steps) < 12:
            steps.append(HistoryStep(place.how, place.site))
            place = place.parent
        return tuple(reversed(steps))


UNKNOWN_HOST = Placement(HOST, "on the host", None)
UNDECIDED = Placement(HOST, "created inside the library", None)
"""Made inside C++ code, which takes the device of an operand: the first meeting decides."""


class MemoryCounter:
    """Bytes alive on each emulated device, and the most there were at once."""

    def __init__(self) -> None:
        self.allocated: dict[int, int] = {}
        self.peak: dict[int, int] = {}

    def add(self, key: int, nbytes: int) -> None:
        """Count `nbytes` more (or, negative, less) on a device."""
        now = self.allocated.get(key, 0) + nbytes
        self.allocated[key] = now
        if now > self.peak.get(key, 0):
            self.peak[key] = now


memory_counter = MemoryCounter()


class StorageWatch:
    """Base class of the reasons to watch a storage: a pending copy, or memory that NumPy shares."""

    __slots__ = ()


class StorageLabel:
    """What devlint knows of one storage: its place, whether it is pinned, and what to watch it for."""

    __slots__ = ("nbytes", "pinned", "place", "watch")

    def __init__(self, place: Placement) -> None:
        self.place = place
        self.nbytes = 0
        self.pinned = False
        self.watch: StorageWatch | None = None


class DeviceStorageLabel(StorageLabel):
    """The cell of an accelerator storage: it is counted as long as the storage lives."""

    __slots__ = ()

    def __init__(self, place: Placement, nbytes: int) -> None:
        super().__init__(place)
        self.nbytes = nbytes
        memory_counter.add(place.key, nbytes)

    def __del__(self) -> None:
        memory_counter.add(self.place.key, -self.nbytes)


def storages_of(tensor: torch.Tensor) -> Iterator[torch.UntypedStorage]:
    """The storages behind a tensor: one if it is dense, the parts' if sparse, the inner one's of a wrapper."""
    while _is_wrapper(tensor):
        tensor = _unwrap(tensor)
    if tensor.layout is torch.strided and not tensor.is_nested:
        try:
            yield storage_of_dense(tensor)
        except (NotImplementedError, RuntimeError):
            return
    elif tensor.is_nested:
        yield from storages_of(tensor.values()) if tensor.layout is torch.jagged else iter((storage_of_dense(tensor),))
    else:
        for part in _sparse_parts(tensor):
            yield storage_of_dense(part)


def _sparse_parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch._C._DisableTorchDispatch():
        if tensor.layout is torch.sparse_coo:
            return tensor._indices(), tensor._values()
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return tensor.crow_indices(), tensor.col_indices(), tensor.values()
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def label_of(tensor: torch.Tensor) -> StorageLabel | None:
    """The cell of a tensor's storage, if devlint has met it."""
    try:
        return getattr(storage_of_dense(tensor), LABEL_ATTRIBUTE, None)
    except (NotImplementedError, RuntimeError):
        for storage in storages_of(tensor):
            return getattr(storage, LABEL_ATTRIBUTE, None)
    return None


def placement_of(tensor: torch.Tensor) -> Placement:
    """Where a tensor is taken to live."""
    label = label_of(tensor)
    return UNKNOWN_HOST if label is None else label.place


def label_tensor(tensor: torch.Tensor, place: Placement) -> StorageLabel | None:
    """Say that a tensor's storage lives at `place` from now on."""
    label: StorageLabel | None = None
    for storage in storages_of(tensor):
        label = StorageLabel(place) if place.key == 0 else DeviceStorageLabel(place, storage.nbytes())
        setattr(storage, LABEL_ATTRIBUTE, label)
    return label
