"""The answers to `hasattr(x, "name")`, for objects of the program's classes, builtin values and tensors."""

from __future__ import annotations

from collections.abc import Hashable

from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Literal
from devlint.domain.value import ConditionalValue, Const, Number, Ref, StringPrefix, Tensor, Tuple, Value
from devlint.interpreter.conditions.instance_checks import restrict_alternatives
from devlint.interpreter.objects.absent_attributes import surely_lacks
from devlint.interpreter.objects.class_hierarchy import class_attributes, defined_class, find_method
from devlint.interpreter.state.frame import Frame


def has_attribute(frame: Frame, value: Value, name: str) -> Literal | bool | None:
    """Return whether a value has an attribute, or the condition under which it has; None if unknown."""
    match value:
        case ConditionalValue(test=test, yes=yes, no=no):
            sides = has_attribute(frame, yes, name), has_attribute(frame, no, name)
            if sides[0] == sides[1]:
                return sides[0]
            apart = test is not None and isinstance(sides[0], bool) and isinstance(sides[1], bool)
            return (test if sides[0] else ~test) if test is not None and apart else None
        case Const(value=constant):
            return hasattr(constant, name)
        case Number(kind="int" | "bool" | "float" as kind):
            return hasattr({"int": int, "bool": bool, "float": float}[kind], name)
        case StringPrefix():
            return hasattr(str, name)
        case Tuple(names=()):
            return hasattr(tuple, name)
        case Tensor():
            return True if frame.analysis.table.method(name) is not None else None
        case Ref():
            return _object_has(frame, value, name)
    return None


def _object_has(frame: Frame, value: Ref, name: str) -> Literal | bool | None:
    """Return whether an object has an attribute.

    It has what the program has set on it, and what its class defines. What only some paths have set, it has under the
    condition of these paths, if one is known.
    """
    thing = frame.instance(value)
    if thing is not None:
        if name in thing.optional:
            return thing.optional[name]
        if name in thing.attributes or _class_has(frame, thing.cls, name):
            return True
        return False if surely_lacks(frame, value, name) else None
    held = frame.get(value.address)
    kinds = {"list": list, "set": set, "tuple": tuple}
    if isinstance(held, Sequence) and held.kind in kinds:
        return hasattr(kinds[held.kind], name)
    if isinstance(held, Dict) and held.object is None:
        return hasattr(dict, name)
    return None


def _class_has(frame: Frame, cls: Hashable, name: str) -> bool:
    """Return whether a class of the program, or one of its bases there, defines a method or an attribute of a name.

    A property is left out, because it may raise AttributeError.
    """
    info = defined_class(cls)
    if info is None:
        return False
    method = find_method(frame, info, name)
    return not method.decorators if method is not None else name in class_attributes(frame, info)


def restrict_to_having(frame: Frame, value: Value, name: str, holds: bool) -> Value | None:
    """Return the value narrowed to the alternatives that may have an attribute, or to those that may lack it.

    The result is None if no alternative of a conditional value is left.
    """
    return restrict_alternatives(value, lambda one: has_attribute(frame, one, name), holds)
