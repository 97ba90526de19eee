"""Devices as far as the source tells: known by name, known to equal something, or unknown."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

ANY_INDEX: Final = -1
"""An accelerator index that exists but is not known: `f"cuda:{rank}"`, or the current device after `set_device`."""

DEVICE_TYPES: Final = frozenset(
    # torch.device's own list, c10/core/DeviceType.cpp; what it prints for an invalid string.
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia"
    " privateuseone".split()
)
FOREIGN_TYPES: Final = frozenset("npu mlu musa sdaa neuron gcu dipu ascend privateuse1 openreg supa tpu spyre".split())
"""Accelerators that come as packages of their own and rename torch's spare backend
(torch.utils.rename_privateuse1_backend)."""

HOST: Final = "cpu"
UNPLACED: Final = frozenset({"meta", "lazy", "xla"})
"""Types for which "on another device" is not an error in the ordinary sense; devlint does not judge them."""


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device by type and index. `index` None is the current device of that type."""

    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None or self.index == ANY_INDEX else f"{self.type}:{self.index}"


@dataclass(frozen=True, slots=True)
class DeviceSymbol:
    """The device of something the caller chooses: a parameter, a module's own. Equal symbols are equal devices."""

    origin: Hashable
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"the device of {self.text}"


@dataclass(frozen=True, slots=True)
class UnknownDevice:
    """Nothing is known; nothing is ever reported of it."""

    def __str__(self) -> str:
        return "unknown"


Device: TypeAlias = "KnownDevice | DeviceSymbol | UnknownDevice"
UNKNOWN_DEVICE: Final = UnknownDevice()
CPU: Final = KnownDevice(HOST)


class DeviceRelation(Enum):
    """How two devices stand to each other."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


def is_host(device: Device) -> bool:
    """Whether it is known to be the host."""
    return isinstance(device, KnownDevice) and device.type == HOST


def is_accelerator(device: Device) -> bool:
    """Whether it is known to be a device other than the host."""
    return isinstance(device, KnownDevice) and device.type != HOST and device.type not in UNPLACED


def relate_devices(left: Device, right: Device) -> DeviceRelation:
    """Compare two devices. `cuda` is compatible with `cuda:0` (the usual current device) and differs from `cuda:1`."""
    if isinstance(left, DeviceSymbol) and left == right:
        return DeviceRelation.SAME
    if not (isinstance(left, KnownDevice) and isinstance(right, KnownDevice)):
        return DeviceRelation.UNDECIDED
    if left.type in UNPLACED or right.type in UNPLACED:
        return DeviceRelation.UNDECIDED
    if left.type != right.type:
        return DeviceRelation.DIFFERENT
    if left.type == HOST or left.index == right.index:
        return DeviceRelation.SAME
    if ANY_INDEX in (left.index, right.index):
        return DeviceRelation.UNDECIDED
    return DeviceRelation.SAME if (left.index or 0) == (right.index or 0) else DeviceRelation.DIFFERENT


class InvalidDevice(ValueError):
    """A device string that torch.device refuses; the message says why in one line."""


def parse_device(text: str) -> KnownDevice:
    """Read a device string as torch.device does (c10/core/Device.cpp). Raises InvalidDevice."""
    type_, colon, index = text.partition(":")
    if type_ not in DEVICE_TYPES and type_ not in FOREIGN_TYPES:
        raise InvalidDevice(f"there is no device type {type_!r}")
    if not colon:
        return KnownDevice(type_)
    if not (index.isascii() and index.isdigit()) or (len(index) > 1 and index.startswith("0")):
        raise InvalidDevice(f"{index!r} is no device index")
    return KnownDevice(type_, int(index))
