"""Random numbers on the emulated device, drawn from the host's generator until the program seeds the device itself."""

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
    """Remember the device that a generator is made for."""
    _device_by_generator[generator._cdata] = device  # type: ignore[attr-defined]


def forget_generator(generator: torch.Generator) -> None:
    """Forget the device of a generator that is deleted, because its address may be reused."""
    _device_by_generator.pop(generator._cdata, None)  # type: ignore[attr-defined]


def generator_device(generator: torch.Generator) -> torch.device:
    """Return the device that a generator was made for."""
    return _device_by_generator.get(generator._cdata, HOST)  # type: ignore[attr-defined]


def check_generator(generator: torch.Generator | None, device: torch.device) -> None:
    """Raise RuntimeError if a generator is not of the device type that it fills."""
    if generator is not None and generator_device(generator).type != device.type:
        raise torch_errors.generator_on_other_device(device.type, generator_device(generator).type)


def run_random_operator(
    session: RuntimeSession, place: Placement, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a random operator with the generator of the device it runs on, if the device was seeded by itself."""
    generator = kwargs.get("generator")
    if generator is not None:
        check_generator(generator, place.device)
        return func(*args, **kwargs)
    if place.key not in _device_states:
        return func(*args, **kwargs)
    with device_generator_state(place.key):
        return func(*args, **kwargs)


class device_generator_state:
    """Context manager that gives the host's generator the state of a device's generator."""

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
    """Return the generator state from which the next draw on a device starts."""
    own = _device_states.get(key)
    return torch.default_generator.get_state() if own is None else own.clone()


def set_state(key: int, new: torch.Tensor) -> None:
    """Set the generator state of a device.

    The device has a generator of its own from then on, unless the state equals that of the host's generator.
    """
    if key not in _device_states and bool(torch.equal(new, torch.default_generator.get_state())):
        return
    _device_states[key] = new.clone()


def seed_device(key: int, number: int) -> None:
    """Seed the generator of one device."""
    generator = torch._C.Generator()
    generator.manual_seed(number)
    _device_states[key] = generator.get_state()


def discard_device_states() -> None:
    """Let all devices draw from the host's generator again.

    This happens after `torch.manual_seed`, which seeds every device.
    """
    _device_states.clear()
