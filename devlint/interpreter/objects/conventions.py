"""Attributes that mean the same in every library that has them, whatever the class of the object."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import Array, Rank, Ref, Unknown, Value

_SPACES: Final = frozenset(
    {"action_space", "observation_space", "single_action_space", "single_observation_space", "state_space"}
)
"""The spaces of an environment of gym, Gymnasium and the libraries that follow them."""
_BOUNDS: Final = frozenset({"high", "low"})
"""The bounds of such a space: NumPy vectors."""


def conventional_attribute(owner: Unknown, name: str) -> Value | None:
    """Return what an attribute of an unknown object is by convention; None if there is no convention for it."""
    match owner.origin:
        case ("attr", _, str(space)) if space in _SPACES and name in _BOUNDS:
            return Array(rank=Rank.SOME)
    return None


def unset_module_attribute(owner: Ref, name: str) -> Value | None:
    """Return what an attribute of a module is by convention that none of its known classes sets; None without one.

    `device`, which an unknown base class, a subclass or a library adds, says where the module is.
    """
    return Unknown(("attr", ("own", owner.address), name), f"self.{name}") if name == "device" else None
