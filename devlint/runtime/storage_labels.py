"""Labels on the storages of tensors: each tells the device, emulated or real, that the storage is taken to be on.

A label is kept as an attribute of the storage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from devlint.runtime.call_sites import Site

HOST = torch.device("cpu")
"""The host as a torch device."""
LABEL_ATTRIBUTE = "_devlint_label"
"""The attribute of a `torch.UntypedStorage` that holds its label."""
# The default on the class makes the look-up in the dispatch mode a plain attribute read.
setattr(torch.UntypedStorage, LABEL_ATTRIBUTE, None)

storage_of_dense: Callable[[torch.Tensor], Any] = torch.Tensor.untyped_storage
"""Returns the storage of a dense tensor: torch's own method, taken before it can be patched."""
_is_wrapper = torch._C._functorch.is_functorch_wrapped_tensor
_unwrap = torch._C._functorch.get_unwrapped


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One step of how a tensor came to its device: a message and the source location where the step happened.

    `operand` is the name of the tensor in the first step of an operand's story, or empty.
    """

    message: str
    site: Site | None
    operand: str = ""

    @property
    def text(self) -> str:
        """Return the message as a report shows it: with the operand that the story is about, if it begins here."""
        return f"{self.operand}: {self.message}" if self.operand else self.message


class DeviceMemory:
    """The number of bytes allocated on one emulated device now, and its maximum so far."""

    __slots__ = ("allocated", "peak")

    def __init__(self) -> None:
        self.allocated = 0
        self.peak = 0


device_memory: defaultdict[int, DeviceMemory] = defaultdict(DeviceMemory)
"""The memory of each emulated device in this process, by 1 plus the index of the device."""


class Placement:
    """The device that a tensor is taken to be on, how the tensor came there, and its placement before.

    The results of an operator share the placement object of its operands. `key` is 0 for the host, and 1 plus the index
    for an accelerator. `went_on` tells that the tensor comes from an operator that had failed, if devlint went on as if
    it had not.
    """

    __slots__ = ("device", "how", "key", "memory", "parent", "site", "went_on")

    def __init__(self, device: torch.device, how: str, site: Site | None, parent: Placement | None = None) -> None:
        self.device = device
        self.key = 0 if device.type == "cpu" else 1 + (device.index or 0)
        self.memory = device_memory[self.key]
        self.how = how
        self.site = site
        self.parent = parent
        self.went_on: bool = parent is not None and parent.went_on

    def after_going_on(self, code: str, site: Site | None) -> Placement:
        """Return the placement of a result of an operator that had failed with the error of a rule.

        Where the operands come from such an operator already, that is this placement.
        """
        if self.went_on:
            return self
        after = Placement(
            self.device, f"devlint went on here after the error ({code}), as if it were mended", site, self
        )
        after.went_on = True
        return after

    def history(self) -> tuple[HistoryStep, ...]:
        """Return the steps by which a tensor came to this placement, oldest first; at most the last 12."""
        steps: list[HistoryStep] = []
        place: Placement | None = self
        while place is not None and len(steps) < 12:
            steps.append(HistoryStep(place.how, place.site))
            place = place.parent
        return tuple(reversed(steps))


UNKNOWN_HOST = Placement(HOST, "on the host", None)
"""The placement of a tensor without a label: on the host, with no history."""
UNDECIDED = Placement(HOST, "created inside the library", None)
"""The placement of a tensor that torch's C++ code created.

The tensor takes the device of the first operand that it meets.
"""


class StorageWatch:
    """Base class of the reasons to check later uses of a storage: a pending copy, or memory shared with NumPy."""

    __slots__ = ()


class StorageLabel:
    """What devlint knows of a storage: its device and history, whether it is pinned, and why its uses are checked."""

    __slots__ = ("nbytes", "pinned", "place", "watch")

    def __init__(self, place: Placement) -> None:
        self.place = place
        self.nbytes = 0
        self.pinned = False
        self.watch: StorageWatch | None = None


class DeviceStorageLabel(StorageLabel):
    """The label of a storage on an accelerator, whose bytes count as allocated there as long as the label exists."""

    __slots__ = ()

    def __init__(self, place: Placement, nbytes: int) -> None:
        self.place = place
        self.nbytes = nbytes
        self.pinned = False
        self.watch = None
        memory = place.memory
        memory.allocated += nbytes
        if memory.allocated > memory.peak:
            memory.peak = memory.allocated

    def __del__(self) -> None:
        self.place.memory.allocated -= self.nbytes


def storages_of(tensor: torch.Tensor) -> Iterator[torch.UntypedStorage]:
    """Yield the storages of a tensor.

    A dense tensor has one, a sparse one several; a functorch wrapper has those of the tensor inside it.
    """
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
    """Return the dense tensors that a sparse tensor consists of: its indices and its values."""
    with torch._C._DisableTorchDispatch():
        if tensor.layout is torch.sparse_coo:
            return tensor._indices(), tensor._values()
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return tensor.crow_indices(), tensor.col_indices(), tensor.values()
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def label_of(tensor: torch.Tensor) -> StorageLabel | None:
    """Return the label of a tensor's first storage, or None if the storage has no label."""
    try:
        return getattr(storage_of_dense(tensor), LABEL_ATTRIBUTE, None)
    except (NotImplementedError, RuntimeError):
        for storage in storages_of(tensor):
            return getattr(storage, LABEL_ATTRIBUTE, None)
    return None


def placement_of(tensor: torch.Tensor) -> Placement:
    """Return the placement (device and history) that is labelled on a tensor's storage; without a label, the host."""
    label = label_of(tensor)
    return UNKNOWN_HOST if label is None else label.place


def label_tensor(tensor: torch.Tensor, place: Placement) -> StorageLabel | None:
    """Label each storage of a tensor with a placement (device and history), and return the last of the new labels.

    Returns None if the tensor has no storage.
    """
    storages: Iterable[torch.UntypedStorage] = ()
    try:
        if type(tensor) is torch.Tensor:
            storages = (storage_of_dense(tensor),)
    except (NotImplementedError, RuntimeError):
        pass
    label: StorageLabel | None = None
    for storage in storages or storages_of(tensor):
        label = StorageLabel(place) if place.key == 0 else DeviceStorageLabel(place, storage.nbytes())
        setattr(storage, LABEL_ATTRIBUTE, label)
    return label
