"""Members of the program's enumerations, represented as heap objects with a name and a value."""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Instance
from devlint.domain.value import AllocationSite, Const, LibraryName, ProgramDefinition, Ref, Value
from devlint.interpreter.objects.class_hierarchy import ancestors, class_body_values
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.frame import Frame

MEMBER: Final = "enum member"
"""The first part of the allocation site of every enum member.

Two sites with this part are equal exactly for the same member.
"""


def is_enum(frame: Frame, info: ClassInfo) -> bool:
    """Return whether a class inherits from a class of Python's `enum` module."""
    return any(isinstance(one, LibraryName) and one.name.startswith("enum.") for one in ancestors(frame, info))


def enum_members(frame: Frame, info: ClassInfo) -> dict[str, Ref] | None:
    """Return the members of an enumeration, keyed by name; None for a class that is not an enumeration."""
    if not is_enum(frame, info):
        return None
    named = {name: one for name, one in class_body_values(frame, info).items() if not name.startswith("_")}
    return {
        name: _member(frame, info, name, one) for name, one in named.items() if not isinstance(one, ProgramDefinition)
    }


def enum_member(frame: Frame, info: ClassInfo, name: Value) -> Value | None:
    """Return the member of an enumeration with a given name; None if there is none or the name is unknown."""
    members = enum_members(frame, info) if isinstance(name, Const) else None
    return members.get(str(name.value)) if members is not None and isinstance(name, Const) else None


def member_with_value(frame: Frame, members: dict[str, Ref], value: Value) -> Ref | None:
    """Return the member of an enumeration with a given constant value; None without one, and for an unknown value."""
    for reference in members.values():
        thing = frame.instance(reference)
        if isinstance(value, Const) and thing is not None and thing.attributes["value"] == value:
            return reference
    return None


def is_same_member(left: Value, right: Value) -> bool | None:
    """Return whether two values are the same enum member; None unless both are enum members."""
    sites = [one.address.site for one in (left, right) if isinstance(one, Ref)]
    if len(sites) < 2 or not all(isinstance(site, tuple) and site[0] == MEMBER for site in sites):
        return None
    return left == right


def _member(frame: Frame, info: ClassInfo, name: str, value: Value) -> Ref:
    """Return the reference to one member of a program's enumeration, as an object with the member's name and value.

    The object is created when first needed, in the base heap: that of the code that runs once in an analysis.
    """
    address = AllocationSite((MEMBER, id(info), name))
    attributes = {"value": value, "_value_": value, "name": Const(name)}
    frame.analysis.base_heap.get_or_put(address, Instance(ProgramDefinition(info), attributes))
    return Ref(address)
