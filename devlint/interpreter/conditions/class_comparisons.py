"""The class of a value, `type(x)`, and its comparison with classes, as in `type(x) == T` or `type(x) in (T, U)`."""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import Literal
from devlint.domain.value import (
    UNKNOWN,
    Array,
    ClassOf,
    ConditionalValue,
    Const,
    LibraryName,
    Number,
    OpaqueData,
    ProgramDefinition,
    SymbolicBool,
    Tensor,
    Tuple,
    Value,
)
from devlint.interpreter.conditions.instance_checks import (
    NDARRAY,
    PARAMETER,
    TENSOR,
    is_instance,
    restrict_alternatives,
)
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.frame import Frame

_BUILTIN_CONSTANTS: Final = frozenset({"bool", "int", "float", "complex", "str", "bytes"})
"""The builtin types of constants."""


def class_of(frame: Frame, value: Value) -> Value:
    """Return the class of a value: by its name where it is known, as a `ClassOf` where only the value is."""
    name = _class_name(frame, value)
    if name is not None:
        return name
    return ClassOf(value) if isinstance(value, (Tensor, OpaqueData, ConditionalValue, Number)) else UNKNOWN


def _class_name(frame: Frame, value: Value) -> ProgramDefinition | LibraryName | None:
    """Return the one class that is surely the class of a value, not a base class of it; None if unknown."""
    thing = frame.object_of(value)
    match value, thing:
        case (_, Instance(cls=ProgramDefinition() as cls)) | (Tuple(cls=ProgramDefinition() as cls), _):
            return cls
        case Tuple(names=()), _:
            return LibraryName("builtins.tuple")
        case (_, Sequence(kind="list" | "set" | "tuple" as kind)):
            return LibraryName(f"builtins.{kind}")
        case (_, Dict(factory=None)):
            return LibraryName("builtins.dict")
        case Const(value=None), _:
            return LibraryName("types.NoneType")
        case Const(value=constant), _ if type(constant).__name__ in _BUILTIN_CONSTANTS:
            return LibraryName(f"builtins.{type(constant).__name__}")
        case SymbolicBool(), _:
            return LibraryName("builtins.bool")
        case Array(), _:
            return NDARRAY
    return None


def is_class(frame: Frame, cls: Value, other: Value) -> Literal | bool | None:
    """Return whether a class is another one, as a bool or a literal; None if unknown, or if one of them is no class."""
    if isinstance(other, ClassOf):
        cls, other = other, cls
    if isinstance(cls, ClassOf) and isinstance(other, (ProgramDefinition, LibraryName)):
        return _has_class(frame, cls.value, other)
    names = (ProgramDefinition, LibraryName)
    if isinstance(cls, names) and isinstance(other, names) and (_is_own_name(cls) or _is_own_name(other)):
        return cls == other
    return None


def _is_own_name(cls: ProgramDefinition | LibraryName) -> bool:
    """Return whether a class has no second name: a class of the program or of Python itself, not one of a library."""
    if isinstance(cls, LibraryName):
        return cls.name.startswith(("builtins.", "types."))
    return isinstance(cls.definition, ClassInfo)


def _has_class(frame: Frame, value: Value, cls: ProgramDefinition | LibraryName) -> Literal | bool | None:
    """Return whether a value is of a class itself, not of one derived from it, as a bool or a literal."""
    if isinstance(value, ConditionalValue):
        yes, no = _has_class(frame, value.yes, cls), _has_class(frame, value.no, cls)
        if isinstance(yes, bool) and isinstance(no, bool):
            return yes if yes is no else None if value.test is None else value.test if yes else ~value.test
        return None
    own = _class_name(frame, value)
    if own is not None:
        return own == cls
    if isinstance(value, Tensor) and cls == TENSOR:
        # Whoever asks wants to know whether it is a tensor: other classes derived from it are not supposed.
        return is_instance(frame, value, PARAMETER) is not True
    return False if is_instance(frame, value, cls) is False else None


def restrict_to_class(frame: Frame, value: Value, cls: Value, holds: bool) -> Value | None:
    """Return the value narrowed to the alternatives that may be of a class itself, or to those that may be of another.

    The result is None if no alternative is left.
    """
    if not isinstance(cls, (ProgramDefinition, LibraryName)):
        return value
    return restrict_alternatives(value, lambda one: _has_class(frame, one, cls), holds)
