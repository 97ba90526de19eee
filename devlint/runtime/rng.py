"""Random numbers: the emulated device draws from the host's generator until the program seeds the device by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.storage_labels import HOST, Place

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import Session

_separate: dict[int, torch.Tensor] = {}
"""The generator state of each device that was seeded by itself."""


_made_for: dict[int, torch.device] = {}
"""The device of each generator alive, by its address: an operator gets another Python object for the same one."""


def adopt(generator: torch.Generator, device: torch.device) -> None:
    """Remember the device a generator is made for."""
    _made_for[generator._cdata] = device  # type: ignore[attr-defined]


def forget(generator: torch.Generator) -> None:
    """The generator is gone, and its address may be another's soon."""
    _made_for.pop(generator._cdata, None)  # type: ignore[attr-defined]


def device_of(generator: torch.Generator) -> torch.device:
    """The device a generator was made for."""
    return _made_for.get(generator._cdata, HOST)  # type: ignore[attr-defined]


def check(generator: torch.Generator | None, device: torch.device) -> None:
    """A generator must be of the device that it fills."""
    if generator is not None and device_of(generator).type != device.type:
        raise torch_errors.generator_device(device.type, device_of(generator).type)


def run(session: Session, place: Place, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a random operator with its device's own generator, if it has one."""
    generator = kwargs.get("generator")
    if generator is not None:
        check(generator, place.device)
        return func(*args, **kwargs)
    if place.key not in _separate:
        return func(*args, **kwargs)
    with drawing_from(place.key):
        return func(*args, **kwargs)


class drawing_from:
    """Let the host's generator stand in for a device's own for a while."""

    def __init__(self, key: int) -> None:
        self.key = key
        self._host: torch.Tensor | None = None

    def __enter__(self) -> None:
        if self.key in _separate:
            self._host = torch.default_generator.get_state()
            torch.default_generator.set_state(_separate[self.key])

    def __exit__(self, *_: object) -> None:
        if self._host is not None:
            _separate[self.key] = torch.default_generator.get_state()
            torch.default_generator.set_state(self._host)


def state(key: int) -> torch.Tensor:
    """The state that the next draw on a device starts from."""
    own = _separate.get(key)
    return torch.default_generator.get_state() if own is None else own.clone()


def restore(key: int, new: torch.Tensor) -> None:
    """Set the state of a device; from now on it has its own generator, unless it is where the host's is anyway."""
    if key not in _separate and bool(torch.equal(new, torch.default_generator.get_state())):
        return
    _separate[key] = new.clone()


def seed(key: int, number: int) -> None:
    """Seed one device."""
    generator = torch._C.Generator()
    generator.manual_seed(number)
    _separate[key] = generator.get_state()


def rejoin() -> None:
    """All devices draw from the host's generator again (after `torch.manual_seed`, which seeds everything)."""
    _separate.clear()
