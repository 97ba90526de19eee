"""Which device a storage is taken to live on, and since when: one `Cell` per storage, kept by the storage itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from devlint.runtime.call_sites import Site

if TYPE_CHECKING:
    from devlint.runtime.numpy_sharing import Export
    from devlint.runtime.stream_clocks import Transit

HOST = torch.device("cpu")
SLOT = "_devlint_cell"
setattr(torch.UntypedStorage, SLOT, None)  # the default makes the look-up on the hot path a plain attribute read

storage_of_plain = torch.Tensor.untyped_storage
_is_wrapper = torch._C._functorch.is_functorch_wrapped_tensor
_unwrap = torch._C._functorch.get_unwrapped


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tensor's story."""

    message: str
    site: Site | None


class Place:
    """A device, how a tensor came to be there, and where it was before; results share their operands' place."""

    __slots__ = ("device", "how", "key", "parent", "site")

    def __init__(self, device: torch.device, how: str, site: Site | None, parent: Place | None = None) -> None:
        self.device = device
        self.key = 0 if device.type == "cpu" else 1 + (device.index or 0)
        self.how = how
        self.site = site
        self.parent = parent

    def history(self) -> tuple[Step, ...]:
        """The story, oldest step first."""
        steps: list[Step] = []
        place: Place | None = self
        while place is not None and len(steps) < 12:
            steps.append(Step(place.how, place.site))
            place = place.parent
        return tuple(reversed(steps))


UNKNOWN_HOST = Place(HOST, "on the host", None)
FLOATING = Place(HOST, "created inside the library", None)
"""Made inside C++ code, which takes the device of an operand: the first meeting decides."""


class Ledger:
    """Bytes alive on each emulated device, and the most there were at once."""

    def __init__(self) -> None:
        self.alive: dict[int, int] = {}
        self.peak: dict[int, int] = {}

    def add(self, key: int, nbytes: int) -> None:
        """Count `nbytes` more (or, negative, less) on a device."""
        now = self.alive.get(key, 0) + nbytes
        self.alive[key] = now
        if now > self.peak.get(key, 0):
            self.peak[key] = now


ledger = Ledger()


class Cell:
    """What devlint knows of one storage: its place, whether it is pinned, and what to watch it for."""

    __slots__ = ("nbytes", "pinned", "place", "watch")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.nbytes = 0
        self.pinned = False
        self.watch: Transit | Export | None = None


class DeviceCell(Cell):
    """The cell of an accelerator storage: it is counted as long as the storage lives."""

    __slots__ = ()

    def __init__(self, place: Place, nbytes: int) -> None:
        super().__init__(place)
        self.nbytes = nbytes
        ledger.add(place.key, nbytes)

    def __del__(self) -> None:
        ledger.add(self.place.key, -self.nbytes)


def storages(tensor: torch.Tensor) -> Iterator[torch.UntypedStorage]:
    """The storages behind a tensor: one if it is dense, the parts' if sparse, the inner one's of a wrapper."""
    while _is_wrapper(tensor):
        tensor = _unwrap(tensor)
    if tensor.layout is torch.strided and not tensor.is_nested:
        try:
            yield storage_of_plain(tensor)
        except (NotImplementedError, RuntimeError):
            return
    elif tensor.is_nested:
        yield from storages(tensor.values()) if tensor.layout is torch.jagged else iter((storage_of_plain(tensor),))
    else:
        for part in _sparse_parts(tensor):
            yield storage_of_plain(part)


def _sparse_parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    with torch._C._DisableTorchDispatch():
        if tensor.layout is torch.sparse_coo:
            return tensor._indices(), tensor._values()
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return tensor.crow_indices(), tensor.col_indices(), tensor.values()
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
    return ()


def cell_of(tensor: torch.Tensor) -> Cell | None:
    """The cell of a tensor's storage, if devlint has met it."""
    try:
        return getattr(storage_of_plain(tensor), SLOT, None)
    except (NotImplementedError, RuntimeError):
        for storage in storages(tensor):
            return getattr(storage, SLOT, None)
    return None


def place_of(tensor: torch.Tensor) -> Place:
    """Where a tensor is taken to live."""
    cell = cell_of(tensor)
    return UNKNOWN_HOST if cell is None else cell.place


def put(tensor: torch.Tensor, place: Place) -> Cell | None:
    """Say that a tensor's storage lives at `place` from now on."""
    cell: Cell | None = None
    for storage in storages(tensor):
        cell = Cell(place) if place.key == 0 else DeviceCell(place, storage.nbytes())
        setattr(storage, SLOT, cell)
    return cell
