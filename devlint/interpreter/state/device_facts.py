"""TODO"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from devlint.domain.device import ANY_INDEX, HOST, Known, Symbol
from devlint.domain.path_conditions import All, Atom, Facts
from devlint.domain.placement import Leaf, Placement, transform


def type_atom(origin: Hashable, type_: str, text: object) -> Atom:
    """The condition that the device of the thing named by `origin` is of a type."""
    return Atom(("device", origin, type_), text)


def as_asked(placement: Placement, facts: Facts) -> Placement:
    """The placement with the caller's devices replaced by those that the path has asked for."""
    types = _types(facts)
    if not types:
        return placement

    def change(leaf: Leaf) -> Leaf:
        type_ = types.get(leaf.device.origin) if isinstance(leaf.device, Symbol) else None
        if type_ is None:
            return leaf
        return replace(leaf, device=Known(type_) if type_ == HOST else Known(type_, ANY_INDEX))

    return transform(placement, change)


def asks_for_two_types(facts: Facts) -> bool:
    """Whether the facts have one thing on devices of two types: no path is like that."""
    types: dict[Hashable, str] = {}
    return any(types.setdefault(origin, type_) != type_ for origin, type_ in _asked(facts))


def _asked(facts: Facts) -> Iterator[tuple[Hashable, str]]:
    for test in facts:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if test.holds:
                yield origin, type_
            case All(tests=tests) if test.holds:
                yield from _asked(frozenset(tests))


def _types(facts: Facts) -> dict[Hashable, str]:
    types: dict[Hashable, str] = {}
    for test in facts:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if test.holds:
                types[origin] = type_
    return types
