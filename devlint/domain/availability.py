"""The conditions that an accelerator is available, such as `torch.cuda.is_available()`.

An available backend is an available accelerator: where `torch.cuda.is_available()` holds,
`torch.accelerator.is_available()` does too.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.device import ACCELERATOR
from devlint.domain.path_conditions import Atom, Literal, PathCondition, atoms_of, closure, entails

THERE_IS_ONE: Final = "there is an accelerator"
"""The text of the condition that an accelerator is available, where the program does not write the condition."""

DEVICE_COUNT: Final = "device_count"
"""The kind of number that `torch.cuda.device_count()` returns: its origin is this word and the device type."""
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


def check_of_another(path_condition: PathCondition, type_: str) -> Atom | None:
    """Return the check on a path that another backend is available than a type of device, such as "cuda", needs.

    The result is None where the path asks for that type too, in any way, or asks for no backend.
    """
    known = closure(path_condition)
    if entails(known, is_available(type_)) is not None:
        return None
    atoms = [atom for test in known for atom in atoms_of(test)]
    names = (type_, type_.upper())  # constants, such as the members of an enumeration, have names in large letters
    if any(atom.mentions(name) for atom in atoms if not _is_availability(atom) for name in names):
        return None
    others = [test.formula for test in known if test.holds and isinstance(test.formula, Atom)]
    asked = {_key(one) for one in (*_BACKENDS, ACCELERATOR) if one != type_}
    return min((one for one in others if one.key in asked), key=str, default=None)


def _is_availability(atom: Atom) -> bool:
    """Return whether a condition asks whether a backend is available."""
    return isinstance(atom.key, tuple) and atom.key[:1] == ("available",)
