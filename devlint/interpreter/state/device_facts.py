"""Device types known from a path condition: a test such as `x.is_cuda` tells the device type of a caller's tensor."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from devlint.domain.device import ACCELERATOR, ANY_INDEX, HOST, DeviceSymbol, KnownDevice
from devlint.domain.path_conditions import Atom, Conjunction, Formula, Literal, PathCondition
from devlint.domain.placement import Basis, ConditionalPlacement, Placement, PlacementCase, map_cases
from devlint.domain.record import replace

CURRENT_ACCELERATOR: Final = ("accelerator",)
"""The identity of the machine's accelerator in conditions on its device type."""
ACCELERATOR_INDEX: Final = "accelerator index"
"""The kind of number that `get_device()` returns for a tensor on an accelerator, the first word of its origin."""


def device_type_atom(origin: Hashable, type_: str, text: object) -> Atom:
    """Return the condition (`Atom`) that an object's device is of a given type, as `x.is_cuda` tests.

    `origin` identifies the object.
    """
    return Atom(("device", origin, type_), text)


def refine_placement(placement: Placement, path_condition: PathCondition) -> Placement:
    """Return a placement in which a path condition has given a type to devices of the caller's choice.

    The same holds for the accelerator of unnamed type. A test such as `x.is_cuda` in the path condition states the
    device type.
    """
    types = _type_by_origin(path_condition)
    if not types:
        return placement

    def change(leaf: PlacementCase) -> PlacementCase:
        device = leaf.device
        if isinstance(device, KnownDevice):
            named = types.get(CURRENT_ACCELERATOR) if device.type == ACCELERATOR else None
            return replace(leaf, device=KnownDevice(named, device.index)) if named is not None else leaf
        type_ = types.get(device.origin) if isinstance(device, DeviceSymbol) else None
        if type_ is None:
            return leaf
        return replace(leaf, device=KnownDevice(type_) if type_ == HOST else KnownDevice(type_, ANY_INDEX))

    return map_cases(placement, change)


def has_contradictory_types(path_condition: PathCondition) -> bool:
    """Return whether a path condition states two different device types for one object.

    No run of the program satisfies such a condition.
    """
    types: dict[Hashable, str] = {}
    return any(are_exclusive(types.setdefault(origin, type_), type_) for origin, type_ in _stated_types(path_condition))


def are_exclusive(one: str, other: str) -> bool:
    """Return whether no device has both of two types; ACCELERATOR stands for any type of accelerator."""
    return one != other and (HOST in (one, other) or ACCELERATOR not in (one, other))


def device_facts(path_condition: PathCondition) -> PathCondition:
    """Return the literals of a path condition that state or exclude a device type of an object."""
    return frozenset(
        test for test in path_condition if isinstance(test.formula, Atom) and _key_kind(test.formula) == "device"
    )


def facts_about(path_condition: PathCondition, placements: Iterable[Placement]) -> PathCondition:
    """Return the literals of a path condition on which some placements depend."""
    formulas = {formula for one in placements for formula in _formulas_of(one)}
    return frozenset(test for test in path_condition if test.formula in formulas)


def _formulas_of(placement: Placement) -> Iterator[Formula]:
    """Yield the conditions on which a placement depends."""
    if isinstance(placement, ConditionalPlacement):
        yield placement.formula
        yield from _formulas_of(placement.yes)
        yield from _formulas_of(placement.no)


def unknown_data_key(key: Hashable) -> Hashable:
    """Return the key of the condition that data of unknown structure is a tensor; `key` identifies the check."""
    return ("data is a tensor", key)


def is_no_tensor(leaf: PlacementCase, path_condition: PathCondition) -> bool:
    """Return whether a path condition takes back the assumption that a tensor's placement rests on.

    Data of unknown structure, such as a loader's, is assumed to be tensors on the host. On a path on which the program
    has found such data to be no tensor, nothing is known of it.
    """
    return leaf.basis is Basis.ASSUMED and any(
        not test.holds and isinstance(test.formula, Atom) and _key_kind(test.formula) == "data is a tensor"
        for test in path_condition
    )


def is_device_tested(path_condition: PathCondition, origin: Hashable) -> bool:
    """Return whether a path has tested the device of a value that the caller passed, or has no accelerator at all.

    `origin` identifies the value, which may be on the host there.
    """
    return any(_implies_host(test) or _tests_device_of(test, origin) for test in path_condition)


def _implies_host(test: Literal) -> bool:
    """Return whether a condition says that no accelerator is available, or that a caller's value is on the host."""
    match test.formula:
        case Atom(key=("available", _)):
            return not test.holds
        case Atom(key=("device", _, str(type_))):
            return test.holds is (type_ == HOST)
    return False


def _tests_device_of(test: Literal, origin: object) -> bool:
    """Return whether a condition of the program is about the device of a value that the caller passed.

    `origin` identifies the value. On one branch of such a condition, the value may be on the host.
    """
    match test.formula:
        case Conjunction(tests=tests):
            return any(_tests_device_of(one, origin) for one in tests)
        case Atom(key=("device", asked, _)):
            return asked == origin
        case Atom(key=("same device" | "same type", frozenset() as asked, *_)):
            return origin in asked
    return False


def _key_kind(atom: Atom) -> Hashable:
    """Return the first part of an atom's key, which says what kind of condition the atom is; None without one."""
    return atom.key[0] if isinstance(atom.key, tuple) and atom.key else None


def _stated_types(path_condition: PathCondition) -> Iterator[tuple[Hashable, str]]:
    """Yield what a path condition states on device types: each object's identity (origin) with its device type."""
    for test in path_condition:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if test.holds:
                yield origin, type_
            case Conjunction(tests=tests) if test.holds:
                yield from _stated_types(frozenset(tests))


@lru_cache(maxsize=64)
def _type_by_origin(path_condition: PathCondition) -> Mapping[Hashable, str]:
    """Return the device types that a path condition's literals state, keyed by the identity (origin) of each object.

    An object that is not on the host is on the accelerator, whose type is not named. Every use of a tensor asks, with
    few path conditions at a time.
    """
    types: dict[Hashable, str] = {}
    for test in path_condition:
        match test.formula:
            case Atom(key=("device", origin, str(type_))) if not test.holds and type_ == HOST:
                types.setdefault(origin, ACCELERATOR)
            case Atom(key=("device", origin, str(type_))) if test.holds and type_ != ACCELERATOR:
                types[origin] = type_
            case Atom(key=("device", origin, _)) if test.holds:
                types.setdefault(origin, ACCELERATOR)
    return types
