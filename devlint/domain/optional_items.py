"""Lists to which paths have added elements under conditions: the elements, each with the condition that it is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from devlint.domain.path_conditions import Literal, conjunction
from devlint.domain.value import Const, DeviceValue, DtypeValue, LibraryName, ProgramDefinition, Ref, Tuple, Value

MAX_OPTIONAL: Final = 6
"""The length up to which the elements of a list are known one by one, if some are there under conditions."""

OptionalItems: TypeAlias = "tuple[tuple[Value, Literal | None], ...]"
"""Elements of a list, each with the condition under which the list has it; None for one that it surely has."""


def join_items(left: OptionalItems | None, right: OptionalItems | None, test: Literal | None) -> OptionalItems:
    """Return the elements of a list to which only one of two paths has added some; empty for other lists.

    `left` are the elements on the path on which the condition `test` holds, None if they are not known.
    """
    if test is None or left is None or right is None:
        return ()
    shorter, longer, condition = (right, left, test) if len(right) < len(left) else (left, right, ~test)
    if longer[: len(shorter)] != shorter:
        return ()
    added = longer[len(shorter) :]
    return _if_fixed(
        (*shorter, *((value, conjunction(condition, held) if held else condition) for value, held in added))
    )


def more_items(known: OptionalItems | None, more: Iterable[Value]) -> OptionalItems:
    """Return the elements of a list to which the path has added more; empty where they are not known."""
    return () if known is None else _if_fixed((*known, *((one, None) for one in more)))


def with_conditions(values: Sequence[Value], conditions: Mapping[int, Literal | None]) -> OptionalItems:
    """Return the elements of a new list, of which those at some positions may be missing, with their conditions.

    `conditions` are given by position, None for one that is not known. The result is empty if there is such a one.
    """
    if None in conditions.values():
        return ()
    return _if_fixed(tuple((one, conditions.get(position)) for position, one in enumerate(values)))


def _if_fixed(items: OptionalItems) -> OptionalItems:
    """Return the elements of a list, if they are few and stay as they are; else none."""
    return items if len(items) <= MAX_OPTIONAL and all(_is_fixed(value) for value, _ in items) else ()


def _is_fixed(value: Value) -> bool:
    """Return whether a value stays as it is whatever the program does: no tensor, which moves, and nothing unknown."""
    match value:
        case Tuple(items=items):
            return all(map(_is_fixed, items))
        case Const() | DeviceValue() | DtypeValue() | LibraryName() | ProgramDefinition() | Ref():
            return True
    return False
