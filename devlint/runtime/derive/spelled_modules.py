"""Constructor and call arguments spelled out by hand, for module classes that torch's own database leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from devlint.runtime.derive.spelled import b, f, i

Arguments = tuple[Any, ...]

SPELLED: dict[str, Callable[[], list[tuple[Arguments, Arguments]]]] = {
    "Dropout": lambda: [((), (f(2, 3),))],
    "Identity": lambda: [((), (f(2, 3),))],
}


def calls(name: str) -> list[tuple[Arguments, Arguments]]:
    """Pairs of constructor and call arguments for ``name``."""
    made = SPELLED.get(name.rsplit(".", 1)[1])
    return made() if made is not None else []


__all__ = ["SPELLED", "b", "calls", "f", "i"]
