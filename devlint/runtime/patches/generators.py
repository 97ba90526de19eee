"""`torch.Generator(device=...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.session import Session

_Generator: Any = torch._C.Generator


class _AnyGenerator(type(_Generator)):  # type: ignore[misc]
    """Every generator is an instance, also those that torch made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Generator)


def install(session: Session, patcher: Patcher) -> None:
    """Let generators say which device they are for."""

    class Generator(_Generator, metaclass=_AnyGenerator):  # type: ignore[misc]
        """A random number generator with a device label."""

        devlint_device: torch.device

        def __new__(cls, device: Any = "cpu") -> Generator:
            target = session.resolve(device)
            made: Generator = super().__new__(cls)
            made.devlint_device = target
            return made

        def __init__(self, device: Any = "cpu") -> None:
            return

        @property
        def device(self) -> torch.device:
            return self.devlint_device

        def __reduce__(self) -> Any:
            return _restored, (str(self.devlint_device), self.get_state())

        def clone_state(self) -> Generator:
            """Another generator in the same state."""
            copy = Generator(self.devlint_device)
            copy.set_state(self.get_state())
            return copy

    patcher.replace(torch, "Generator", Generator)


def _restored(device: str, state: torch.Tensor) -> torch.Generator:
    generator = torch.Generator(device)
    generator.set_state(state)
    return generator
