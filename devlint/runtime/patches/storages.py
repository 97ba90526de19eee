"""Patches for the device and the copies of storages, on which `torch.save`, `torch.load` and `deepcopy` rely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.call_sites import user_site
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.storage_labels import HOST, LABEL_ATTRIBUTE, DeviceStorageLabel, Placement, StorageLabel

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_device: Any = torch.UntypedStorage.device
_new: Any = torch.UntypedStorage.__new__
_make: Any = torch._C.StorageBase.__new__


def _label(storage: torch.UntypedStorage, place: Placement) -> torch.UntypedStorage:
    """Label a storage with the device that it is taken to be on (emulated or the host), and return the storage."""
    setattr(storage, LABEL_ATTRIBUTE, DeviceStorageLabel(place, storage.nbytes()) if place.key else StorageLabel(place))
    return storage


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Patch `torch.UntypedStorage` so that storages can be created on, moved to and copied on emulated devices.

    The storages keep their bytes on the host; a label on each tells its emulated device.
    """

    def device(self: torch.UntypedStorage) -> torch.device:
        label = getattr(self, LABEL_ATTRIBUTE)
        found: torch.device = label.place.device if label is not None and label.place.key else _device.__get__(self)
        return found

    def new(cls: type, *args: Any, device: Any = None, **kwargs: Any) -> torch.UntypedStorage:
        target = session.resolve(device)
        if target.type != session.kind:
            given = {} if device is None else {"device": target}
            plain: torch.UntypedStorage = _new(cls, *args, **given, **kwargs)
            return plain
        return _label(_new(cls, *args, **kwargs), Placement(target, f"a storage on {target}", user_site()))

    def to_device(self: torch.UntypedStorage, target: torch.device) -> torch.UntypedStorage:
        if target == self.device:
            return self
        copy: torch.UntypedStorage = _make(torch.UntypedStorage, self.nbytes())
        copy.copy_(self, False)
        return _label(copy, Placement(target, f"a storage loaded or moved to {target}", user_site(2)))

    def to(self: torch.UntypedStorage, *, device: Any, non_blocking: bool = False) -> torch.UntypedStorage:
        target = session.resolve(device)
        if target.type not in ("cpu", session.kind):
            raise NotEmulated(f"storages on {target}")
        return to_device(self, target)

    def cuda(self: torch.UntypedStorage, device: Any = None, non_blocking: bool = False) -> torch.UntypedStorage:
        target = session.resolve("cuda")
        return to_device(self, target if device is None else session.resolve(device))

    def mps(self: torch.UntypedStorage) -> torch.UntypedStorage:
        return to_device(self, session.resolve("mps"))

    def cpu(self: torch.UntypedStorage) -> torch.UntypedStorage:
        return to_device(self, HOST)

    def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
        copy: torch.UntypedStorage = _make(torch.UntypedStorage, self.nbytes())
        copy.copy_(self, False)
        label = getattr(self, LABEL_ATTRIBUTE)
        return copy if label is None else _label(copy, label.place)

    def share(self: torch.UntypedStorage, *args: Any, **kwargs: Any) -> Any:
        raise NotEmulated("sending accelerator memory to another process")

    storage = torch.UntypedStorage
    patcher.replace(storage, "device", property(device))
    patcher.replace(storage, "__new__", staticmethod(new))
    for name, method in (
        ("to", to),
        ("cuda", cuda),
        ("mps", mps),
        ("cpu", cpu),
        ("clone", clone),
        ("_share_cuda_", share),
    ):
        patcher.replace(storage, name, method)
