"""The device lattice: devices known by name, devices known only to equal others, and unknown devices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from difflib import get_close_matches
from enum import Enum
from typing import Final, TypeAlias

from devlint.domain.record import record

ANY_INDEX: Final = -1
"""The marker for an accelerator index that exists but is unknown: `f"cuda:{rank}"`, or after `set_device`."""

DEVICE_TYPES: Final = frozenset(
    # The list that torch.device prints for an invalid string (c10/core/DeviceType.cpp).
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia"
    " privateuseone".split()
)
"""The device types that torch itself knows."""
FOREIGN_TYPES: Final = frozenset("npu mlu musa sdaa neuron gcu dipu ascend privateuse1 openreg supa tpu spyre".split())
"""The types of accelerators that separate packages provide.

Those packages rename torch's spare backend (torch.utils.rename_privateuse1_backend).
"""

HOST: Final = "cpu"
"""The device type of the host."""
ACCELERATOR: Final = "accelerator"
"""The device type that stands for the machine's accelerator where the program does not name its type.

It is that of `torch.accelerator.current_accelerator()`: one type in each run, equal to itself and never the host. It is
no string that torch.device accepts.
"""
UNPLACED: Final = frozenset({"meta", "lazy", "xla"})
"""The device types for which tensors on two devices are not an error in the ordinary sense.

devlint reports no conflict with a device of these types.
"""


@record(frozen=True, slots=True)
class KnownDevice:
    """A device known by type and index; `index` None means the current device of that type.

    The type may be ACCELERATOR, for a device that is known to be an accelerator but not by the name of its type.
    """

    type: str
    index: int | None = None

    @property
    def is_named(self) -> bool:
        """Whether the type of the device is known by the name that torch gives it."""
        return self.type != ACCELERATOR

    def __str__(self) -> str:
        if not self.is_named:
            return "the accelerator" if self.index is None or self.index == ANY_INDEX else f"accelerator {self.index}"
        return self.type if self.index is None or self.index == ANY_INDEX else f"{self.type}:{self.index}"


@record(frozen=True, slots=True)
class DeviceSymbol:
    """A name for the unknown device of an object that the caller chooses, such as a function's argument or a module.

    Equal symbols are equal devices. `origin` identifies the object whose device it is; `text` names that object in
    findings.
    """

    origin: Hashable
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"the device of {self.text}"


@record(frozen=True, slots=True)
class UnknownDevice:
    """The abstract device of a tensor of which no device is known; no finding is ever reported about it."""

    def __str__(self) -> str:
        return "unknown"


Device: TypeAlias = "KnownDevice | DeviceSymbol | UnknownDevice"
"""The abstract values of a device."""
UNKNOWN_DEVICE: Final = UnknownDevice()
"""The one instance of UnknownDevice that the analysis uses."""
CPU: Final = KnownDevice(HOST)
"""The host's device."""
ANY_ACCELERATOR: Final = KnownDevice(ACCELERATOR, ANY_INDEX)
"""An accelerator of unknown type and index."""


class DeviceRelation(Enum):
    """The result of comparing two devices: same, different or undecided."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


def is_host(device: Device) -> bool:
    """Return whether a device is known to be the host."""
    return isinstance(device, KnownDevice) and device.type == HOST


def is_accelerator(device: Device) -> bool:
    """Return whether a device is known to be an accelerator: neither the host nor a type such as meta."""
    return isinstance(device, KnownDevice) and device.type != HOST and device.type not in UNPLACED


def relate_devices(left: Device, right: Device) -> DeviceRelation:
    """Return how two devices relate: the same, different, or undecided.

    `cuda` without an index means the current device, which is assumed to be `cuda:0`: it is the same as `cuda:0` and
    differs from `cuda:1`. An accelerator of unknown type may be one of any type, but not one of another index.
    """
    if isinstance(left, DeviceSymbol) and left == right:
        return DeviceRelation.SAME
    if not (isinstance(left, KnownDevice) and isinstance(right, KnownDevice)):
        return DeviceRelation.UNDECIDED
    if left.type in UNPLACED or right.type in UNPLACED:
        return DeviceRelation.UNDECIDED
    of_one_type = left.type == right.type
    if not of_one_type and (HOST in (left.type, right.type) or (left.is_named and right.is_named)):
        return DeviceRelation.DIFFERENT
    if left.type == HOST or left.index == right.index:
        return DeviceRelation.SAME if of_one_type else DeviceRelation.UNDECIDED
    if ANY_INDEX in (left.index, right.index):
        return DeviceRelation.UNDECIDED
    if (left.index or 0) != (right.index or 0):
        return DeviceRelation.DIFFERENT
    return DeviceRelation.SAME if of_one_type else DeviceRelation.UNDECIDED


class InvalidDevice(ValueError):
    """The error for a device string that torch.device refuses; the message gives the reason in one line."""


MEANT_AS_DEVICES: Final = ("gpu", "nvidia", "none", "auto")
"""Texts that no torch takes for a device, but that programs hand over as one."""


def is_meant_as_device(text: str) -> bool:
    """Return whether a text names a device, or is what somebody may have written for one: `gpu`, `CUDA`, `cuda:-1`.

    Objects of other libraries have methods `.to` that take other texts, such as a unit.
    """
    type_, colon, _ = text.partition(":")
    plain = type_.strip().lower().rstrip("0123456789")
    names = (*DEVICE_TYPES, *FOREIGN_TYPES, *MEANT_AS_DEVICES)
    return bool(colon) or bool(get_close_matches(plain, names, n=1, cutoff=0.7))


def parse_device(text: str) -> KnownDevice:
    """Read a device string as torch.device does (c10/core/Device.cpp); raise InvalidDevice where torch refuses it."""
    type_, colon, index = text.partition(":")
    if type_ not in DEVICE_TYPES and type_ not in FOREIGN_TYPES:
        raise InvalidDevice(f"there is no device type {type_!r}")
    if not colon:
        return KnownDevice(type_)
    if not (index.isascii() and index.isdigit()) or (len(index) > 1 and index.startswith("0")):
        raise InvalidDevice(f"{index!r} is no device index")
    return KnownDevice(type_, int(index))


def device_from_string(text: str) -> Device:
    """Return the device that a string names; unknown for a string that names no device."""
    try:
        return parse_device(text)
    except InvalidDevice:
        return UNKNOWN_DEVICE
