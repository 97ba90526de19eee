"""Attributes that an object surely lacks, because the analysis has followed everything that could have set them."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import ProgramDefinition, Ref, Value
from devlint.interpreter.objects.class_hierarchy import (
    class_attributes,
    find_method,
    has_unknown_base,
    program_classes,
)
from devlint.interpreter.objects.module_state import ANY_PART
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.frame import Frame

_DYNAMIC: Final = frozenset({"setattr", "__dict__", "vars", "__getattr__", "__getattribute__", "__slots__"})
"""The names by which a class may get attributes that its code does not name."""


def surely_lacks(frame: Frame, value: Value, name: str) -> bool:
    """Return whether an object of one of the program's classes has no attribute of a name.

    Only an object that the program itself has made is fully known: methods of one that an unknown caller hands over may
    have run before.
    """
    thing = frame.instance(value)
    if thing is None or not isinstance(value, Ref) or value.address in frame.analysis.symbolic_instances:
        return False
    cls = thing.cls.definition if isinstance(thing.cls, ProgramDefinition) else None
    if not isinstance(cls, ClassInfo) or not thing.placement_tracked or has_unknown_base(frame, cls):
        return False
    if name in thing.attributes or name in thing.optional or any(one.startswith(ANY_PART) for one in thing.attributes):
        return False
    if any(_DYNAMIC & one.unit.mentions for one in program_classes(frame, cls)):
        return False
    return name not in class_attributes(frame, cls) and find_method(frame, cls, name) is None
