"""Random numbers: the emulated device draws from the host's generator until the program seeds the device by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.storage_labels import HOST, Placement

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

_device_states: dict[int, torch.Tensor] = {}
"""The generator state of each device that was seeded by itself."""


_device_by_generator: dict[int, torch.device] = {}
"""The device of each generator alive, by its address: an operator gets another Python object for the same one."""


def register_generator(generator: torch.Generator, device: torch.device) -> None:
    """Remember the device a generator is made for."""
    _device_by_generator[generator._cdata] = device  # type: ignore[attr-defined]


def forget_generator(generator: torch.Generator) -> None:
    """The generator is gone, and its address may be another's soon."""
    _device_by_generator.pop(generator._cdata, None)  # type: ignore[attr-defined]


def generator_device(generator: torch.Generator) -> torch.device:
    """The device a generator was made for."""
    return _device_by_generator.get(generator._cdata, HOST)  # type: ignore[attr-defined]


def check_generator(generator: torch.Generator | None, device: torch.device) -> None:
    """A generator must be of the device that it fills."""
    if generator is not None and generator_device(generator).type != device.type:
        raise torch_errors.generator_on_other_device(device.type, generator_device(generator).type)


def run_random_operator(
    session: RuntimeSession, place: Placement, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a random operator with its device's own generator, if it has one."""
    generator = kwargs.get("generator")
    if generator is not None:
        check_generator(generator, place.device)
        return func(*args, **kwargs)
    if place.key not in _device_states:
        return func(*args, **kwargs)
    with device_generator_state(place.key):
        return func(*args, **kwargs)


class device_generator_state:
    """Let the host's generator stand in for a device's own for a while."""

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
    """The state that the next draw on a device starts from."""
    own = _device_states.get(key)
    return torch.default_generator.get_state() if own is None else own.clone()


def set_state(key: int, new: torch.Tensor) -> None:
    """Set the state of a device; from now on it has its own generator, unless it is where the host's is anyway."""
    if key not in _device_states and bool(torch.equal(new, torch.default_generator.get_state())):
        return
    _device_states[key] = new.clone()


def seed_device(key: int, number: int) -> None:
    """Seed one device."""
    generator = torch._C.Generator()
    generator.manual_seed(number)
    _device_states[key] = generator.get_state()


def discard_device_states() -> None:
    """All devices draw from the host's generator again (after `torch.manual_seed`, which seeds everything)."""
    _device_states.clear()
