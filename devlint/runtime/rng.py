"""Random numbers on emulated devices.

A device draws from the host's generator until the program gives the device another seed than the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.storage_labels import HOST, Placement

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

_device_states: dict[int, torch.Tensor] = {}
"""The generator state of each device that was seeded by itself, by placement key."""


_device_by_generator: dict[int, torch.device] = {}
"""The device of each living generator, by address.

Operators receive another Python object for the same generator, so the object itself is no key.
"""


def register_generator(generator: torch.Generator, device: torch.device) -> None:
    """Remember for which device, emulated or the host, a random generator is made."""
    _device_by_generator[generator._cdata] = device  # type: ignore[attr-defined]


def forget_generator(generator: torch.Generator) -> None:
    """Forget for which device a random generator was made, when it is deleted: its address may be reused."""
    _device_by_generator.pop(generator._cdata, None)  # type: ignore[attr-defined]


def generator_device(generator: torch.Generator) -> torch.device:
    """Return the device, emulated or the host, for which a random generator was made."""
    return _device_by_generator.get(generator._cdata, HOST)  # type: ignore[attr-defined]


def check_generator(generator: torch.Generator | None, device: torch.device) -> None:
    """Raise RuntimeError if a generator was made for another device type than that of the tensor to fill."""
    if generator is not None and generator_device(generator).type != device.type:
        raise torch_errors.generator_on_other_device(device.type, generator_device(generator).type)


def run_random_operator(
    session: RuntimeSession, place: Placement, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run an operator that draws random numbers, and return its result.

    The numbers come from the generator in the arguments if there is one, else from the emulated device's own generator,
    else from the host's.
    """
    generator = kwargs.get("generator")
    if generator is not None:
        check_generator(generator, place.device)
        return func(*args, **kwargs)
    if place.key not in _device_states:
        return func(*args, **kwargs)
    with device_generator_state(place.key):
        return func(*args, **kwargs)


class device_generator_state:
    """Context manager that gives the host's random generator the state of an emulated device's generator.

    At the end, the new state is kept for the device and the host's generator gets its former state back. Nothing
    happens if the device has no generator of its own.
    """

    def __init__(self, key: int) -> None:
        self.key = key
        self._host: torch.Tensor | None = None

    def __enter__(self) -> None:
        if self.key in _device_states:
            self._host = torch.default_generator.get_state()
            torch.default_generator.set_state(_device_states[self.key])

    def __exit__(self, *_: object) -> None:
        if self._host is not None:
            _device_states[self.key] = torch.default_generator.get_state()
            torch.default_generator.set_state(self._host)


def get_state(key: int) -> torch.Tensor:
    """Return the generator state from which the next random number on an emulated device is drawn.

    It is the host generator's if the device has no generator of its own. `key` is 1 plus the index of the device.
    """
    own = _device_states.get(key)
    return torch.default_generator.get_state() if own is None else own.clone()


def set_state(key: int, new: torch.Tensor) -> None:
    """Set the state of the random generator of an emulated device; `key` is 1 plus the index of the device.

    The device has a generator of its own from then on, unless the state equals that of the host's generator: then both
    are one, as they are before anything seeds the device.
    """
    if torch.equal(new, torch.default_generator.get_state()):
        _device_states.pop(key, None)
    else:
        _device_states[key] = new.clone()


def seed_device(key: int, number: int) -> None:
    """Seed the random generator of one emulated device with a number; `key` is 1 plus the index of the device.

    It stays one with the host's generator if that was seeded with the same number and has drawn nothing since: programs
    that seed everything draw the numbers of the CPU.
    """
    generator = torch._C.Generator()
    generator.manual_seed(number)
    set_state(key, generator.get_state())


def has_own_generator(key: int) -> bool:
    """Return whether an emulated device has a random generator of its own; `key` is 1 plus the index of the device."""
    return key in _device_states


def host_state_was_set() -> None:
    """Make one with the host's generator each generator of a device whose state equals the host's new state."""
    state = torch.default_generator.get_state()
    for key in [key for key, own in _device_states.items() if torch.equal(own, state)]:
        del _device_states[key]


def discard_device_states() -> None:
    """Forget the generator states of all emulated devices, so that they draw from the host's generator again.

    This happens after `torch.manual_seed`, which seeds every device.
    """
    _device_states.clear()
