"""The conditions that an accelerator is available, such as `torch.cuda.is_available()`.

An available backend is an available accelerator: where `torch.cuda.is_available()` holds,
`torch.accelerator.is_available()` does too.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.device import ACCELERATOR
from devlint.domain.path_conditions import Atom, Literal

THERE_IS_ONE: Final = "there is an accelerator"
"""The text of the condition that an accelerator is available, where the program does not write the condition."""

_BACKENDS: Final = ("cuda", "mps", "xpu")
"""The backends whose availability programs ask for, of those that `torch.accelerator` knows."""


def _key(type_: str) -> tuple[str, str]:
    """Return the identity of the condition that a device of a type is available."""
    return "available", type_


_STRONGER: Final = tuple(Atom(_key(one), f"torch.{one}.is_available()") for one in _BACKENDS)
_AN_ACCELERATOR: Final = Atom(_key(ACCELERATOR), THERE_IS_ONE, stronger=_STRONGER)


def is_available(type_: str = ACCELERATOR, text: str = "") -> Literal:
    """Return the condition that a device of a type is available; `text` is how findings show it, if given."""
    if type_ == ACCELERATOR:
        return Literal(Atom(_key(type_), text or THERE_IS_ONE, stronger=_STRONGER))
    written = text or f"torch.{type_}.is_available()"
    return Literal(Atom(_key(type_), written, weaker=_AN_ACCELERATOR if type_ in _BACKENDS else None))
