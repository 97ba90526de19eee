"""Patch for `torch.Generator(device=...)`, so that programs can make generators for emulated devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import rng

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_Generator: Any = torch._C.Generator


class _AnyGenerator(type(_Generator)):  # type: ignore[misc]
    """Metaclass of the class that replaces `torch.Generator`; torch's own generators count as instances too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Generator)


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `torch.Generator` by a class whose generators can be made for emulated devices."""

    class Generator(_Generator, metaclass=_AnyGenerator):  # type: ignore[misc]
        """Replacement for `torch.Generator` that knows the device, real or emulated, for which it was made."""

        def __new__(cls, device: Any = "cpu") -> Generator:
            target = session.resolve(device)
            made: Generator = super().__new__(cls)
            rng.register_generator(made, target)
            return made

        def __init__(self, device: Any = "cpu") -> None:
            return

        def __del__(self) -> None:
            rng.forget_generator(self)

        @property
        def device(self) -> torch.device:
            return rng.generator_device(self)

        def __reduce__(self) -> Any:
            return _restored_generator, (str(self.device), self.get_state())

        def clone_state(self) -> Generator:
            """Return another generator for the same device in the same state."""
            copy = Generator(self.device)
            copy.set_state(self.get_state())
            return copy

    patcher.replace(torch, "Generator", Generator)


def _restored_generator(device: str, state: torch.Tensor) -> torch.Generator:
    """Return a new generator for a device with a saved state; unpickling a generator calls this function."""
    generator = torch.Generator(device)
    generator.set_state(state)
    return generator
