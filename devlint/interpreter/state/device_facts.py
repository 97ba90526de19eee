"""TODO"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from devlint.domain.device import ANY_INDEX, HOST, DeviceSymbol, KnownDevice
from devlint.domain.path_conditions import Atom, Conjunction, PathCondition
from devlint.domain.placement import Placement, PlacementCase, map_cases


def device_type_atom(origin: Hashable, type_: str, text: object) -> Atom:
    """The condition that the device of the thing named by `origin` is of a type."""
    return Atom(("device", origin, type_), text)


def refine_placement(placement: Placement, path_condition: PathCondition) -> Placement:
    """The placement with the caller's devices replaced by those that the path has asked for."""
    types = _types(path_condition)
    if not types:
        return placement

    def change(leaf: PlacementCase) -> PlacementCase:
        type_ = types.get(leaf.device.origin) if isinstance(leaf.device, DeviceSymbol) else None
        if type_ is None:
            return leaf
        return replace(leaf, device=KnownDevice(type_) if type_ == HOST else KnownDevice(type_, ANY_INDEX))

    return map_cases(placement, change)


def has_contradictory_types(path_condition: PathCondition) -> bool:
    """Whether the facts have one thing on devices of two types: no path is like that."""
    types: dict[Hashable, str] = {}
    return any(types.setdefault(origin, type_) != type_ for origin, type_ in _asked(path_condition))


def _asked(path_condition: PathCondition) -> Iterator[tuple[Hashable, str]]:
    for test in path_condition:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if test.holds:
                yield origin, type_
            case Conjunction(tests=tests) if test.holds:
                yield from _asked(frozenset(tests))


def _types(path_condition: PathCondition) -> dict[Hashable, str]:
    types: dict[Hashable, str] = {}
    for test in path_condition:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if test.holds:
                types[origin] = type_
    return types
