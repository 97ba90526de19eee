"""Instance checks: the result of `isinstance(value, type)`, and the narrowing of values by an instance check."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Final

import libcst as cst

from devlint.domain.device import KnownDevice
from devlint.domain.join import join
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import Literal, conditional
from devlint.domain.placement import Basis, placement_cases
from devlint.domain.tensorless_types import has_no_tensors
from devlint.domain.torch_names import LAYER_BASES
from devlint.domain.value import (
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    DeviceValue,
    DtypeValue,
    LibraryName,
    NotTensor,
    Number,
    OpaqueData,
    Partial,
    ProgramDefinition,
    Ref,
    Size,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeName,
    TypeUnion,
    Unknown,
    Value,
    is_single_object,
)
from devlint.interpreter.objects.class_hierarchy import ancestors, defined_class, has_unknown_base
from devlint.interpreter.objects.module_state import is_module
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.device_facts import unknown_data_key
from devlint.interpreter.state.frame import Frame

_TENSOR: Final = frozenset({"torch.Tensor", "Iterable"})
"""The names of the types of which a tensor is an instance."""
_NUMBERS: Final = {
    "bool": frozenset({"bool", "int", "Integral", "Real", "Number"}),
    "int": frozenset({"int", "Integral", "Real", "Number"}),
    "float": frozenset({"float", "Real", "Number"}),
    "complex": frozenset({"complex", "Number"}),
}
"""The names of the types of which a Python number is an instance, by the number's own type."""
_OTHERS: Final = {
    "str": frozenset({"str", "Sequence", "Iterable", "Collection"}),
    "bytes": frozenset({"bytes", "Sequence", "Iterable", "Collection"}),
    "list": frozenset({"list", "Sequence", "MutableSequence", "Iterable", "Collection"}),
    "tuple": frozenset({"tuple", "Sequence", "Iterable", "Collection"}),
    "dict": frozenset({"dict", "Mapping", "MutableMapping", "Iterable", "Collection"}),
    "set": frozenset({"set", "Set", "MutableSet", "Iterable", "Collection"}),
    "iterator": frozenset({"Iterator", "Iterable"}),
    "NoneType": frozenset({"NoneType"}),
}
"""The names of the types of which Python's other builtin values are instances, by the value's own type."""
CONCRETE: Final = frozenset((*_NUMBERS, *_OTHERS)) - {"iterator"} | {
    "torch.Tensor",
    "torch.Size",
    "torch.device",
    "torch.dtype",
    "torch.nn.Module",
    "numpy.ndarray",
}
"""The types of which it is known, for any value of a known kind, whether the value is an instance.

Absence from the sets above means False.
"""
PROTOCOLS: Final = frozenset().union(*_NUMBERS.values(), *_OTHERS.values()) - CONCRETE | {"Callable"}
"""The abstract types for which absence from the sets above means False only for Python's own values.

Whether an object of a program's class has such a type depends on its methods.
"""

TENSOR: Final = LibraryName("torch.Tensor")
"""The class `torch.Tensor` as an abstract value."""
PARAMETER: Final = LibraryName("torch.nn.Parameter")
"""The class `torch.nn.Parameter` as an abstract value."""
NDARRAY: Final = LibraryName("numpy.ndarray")
"""The class `numpy.ndarray` as an abstract value."""

_NONE_TYPE: Final = LibraryName("types.NoneType")
"""The class of None as an abstract value; a union of classes names it by None."""

DROPPED_PREFIXES: Final = ("builtins.", "typing.", "collections.abc.", "numbers.", "types.")
"""The module prefixes that are dropped from the names of types before they are compared."""


def is_instance(frame: Frame, value: Value, type_: Value) -> bool | None:
    """Return the result of `isinstance(value, type_)`.

    It is None if unknown, or if it differs between the alternatives of a conditional value.
    """
    match type_:
        case Tuple(items=types) | TypeUnion(types=types):
            answers = [is_instance(frame, value, one) for one in types]
            return True if True in answers else None if None in answers else False
        case Const(value=None):
            type_ = _NONE_TYPE
        case ConditionalValue():
            return None
    if isinstance(value, ConditionalValue):
        possible = {is_instance(frame, value.yes, type_), is_instance(frame, value.no, type_)}
        return possible.pop() if len(possible) == 1 else None
    if isinstance(type_, ProgramDefinition) and isinstance(type_.definition, ClassInfo):
        return _is_of_program_class(frame, value, type_)
    if not isinstance(type_, LibraryName):
        return None
    name = _type_name(type_.name)
    if isinstance(value, Tensor) and name == PARAMETER.name:
        return _is_parameter(value)
    thing = frame.instance(value)
    of_class = _is_of_library_class(frame, thing, type_) if thing is not None else None
    if of_class is not None:
        return of_class
    if isinstance(value, NotTensor):
        return False if name == "torch.Tensor" else None
    if isinstance(value, Number) and value.kind is None and name in _NUMBERS["bool"] | _NUMBERS["float"]:
        return None
    if isinstance(value, Tensor) and has_no_tensors(name):
        return False
    known = _types_of(frame, value)
    if known is None:
        return None
    return True if name in known else False if name in CONCRETE or (thing is None and name in PROTOCOLS) else None


def _is_parameter(tensor: Tensor) -> bool | None:
    """Return whether a tensor is a Parameter; None if unknown.

    A tensor that the program has made or moved to a device that is known is none, unless it may be a Parameter that a
    transfer has returned as it was.
    """
    if tensor.cell is not None:
        return tensor.leaf
    if tensor.leaf is False or tensor.moved is not None:
        return None
    made = all(
        isinstance(leaf.device, KnownDevice) and leaf.basis in (Basis.EXPLICIT, Basis.DEFAULT)
        for _, leaf in placement_cases(tensor.placement)
    )
    return False if made else None


def instance_condition(frame: Frame, value: Value, type_: Value) -> Literal | bool | None:
    """Return `isinstance(value, type_)` as a bool or a literal; None if unknown.

    For a conditional value, the literals that choose between the alternatives may also decide the instance check.
    """
    answer = is_instance(frame, value, type_)
    if answer is None and isinstance(value, ConditionalValue) and value.test is not None:
        yes, no = (instance_condition(frame, one, type_) for one in (value.yes, value.no))
        if yes is not None and no is not None:
            return conditional(value.test, yes, no)
    return answer


def instance_key(frame: Frame, value: Value, type_: Value, node: cst.CSTNode) -> Hashable:
    """Return the key that identifies the condition `isinstance(value, type_)` in path conditions.

    Checks of one named object for the same class are one condition wherever they stand; any other check is known by its
    source location, which is that of `node`.
    """
    if isinstance(value, Unknown) and value.origin is not None and is_single_object(value.origin):
        return ("instance", value.origin, frozenset(_members(type_)))
    if isinstance(value, OpaqueData) and type_ == TENSOR:
        return unknown_data_key(frame.site_key(node))
    return frame.site_key(node)


def _members(type_: Value) -> Iterator[Value]:
    """Yield the classes of a tuple or union of classes, also those inside nested tuples; a class is its own."""
    match type_:
        case Tuple(items=types) | TypeUnion(types=types):
            for one in types:
                yield from _members(one)
        case _:
            yield type_


def restrict_to_type(frame: Frame, value: Value, type_: Value, holds: bool) -> Value | None:
    """Return the value narrowed to instances of a type, or to values that are not instances of it.

    The result is None if no alternative of a conditional value is left.
    """
    return restrict_alternatives(value, lambda one: is_instance(frame, one, type_), holds)


def restrict_alternatives(value: Value, question: Callable[[Value], object], holds: bool) -> Value | None:
    """Return the value narrowed to the alternatives for which the answer to a question may be `holds`.

    The question is answered with None where it is open. The result is None if no alternative is left.
    """
    if isinstance(value, ConditionalValue):
        yes, no = (restrict_alternatives(one, question, holds) for one in (value.yes, value.no))
        if yes is None or no is None:
            return no if yes is None else yes
        return value if (yes, no) == (value.yes, value.no) else join(yes, no, value.test)
    return None if question(value) is (not holds) else value


def _type_name(name: str) -> str:
    """Return the dotted name of a type without the module prefixes in DROPPED_PREFIXES."""
    for prefix in DROPPED_PREFIXES:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name


def _types_of(frame: Frame, value: Value) -> frozenset[str] | None:
    """Return the names of the types of which an abstract value is surely an instance; None if they are unknown."""
    match value:
        case Tensor():
            return _TENSOR
        case Array():
            return frozenset({"numpy.ndarray", "Iterable"})
        case Const(value=constant):
            name = type(constant).__name__
            return _NUMBERS.get(name) or _OTHERS.get(name)
        case Number(kind=kind):
            return _NUMBERS.get(kind or "", frozenset())
        case SymbolicBool():
            return _NUMBERS["bool"]
        case StringPrefix() | DeviceType() | DeviceString() | TypeName():
            return _OTHERS["str"]
        case Size():
            return _OTHERS["tuple"] | {"torch.Size"}
        case Tuple():
            return _OTHERS["tuple"]
        case DeviceValue():
            return frozenset({"torch.device"})
        case DtypeValue():
            return frozenset({"torch.dtype"})
        case ProgramDefinition() | BoundLibraryMethod() | Partial():
            return frozenset({"Callable"})
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                return _OTHERS.get(thing.kind, _OTHERS["iterator"])
            if isinstance(thing, Dict):
                return _OTHERS["dict"]
            if isinstance(thing, Instance):
                return _types_of_object(frame, value, thing)
    return None


def _types_of_object(frame: Frame, value: Value, thing: Instance) -> frozenset[str] | None:
    """Return the names of the library types (such as torch.nn.Module) of which an object is an instance.

    The result is None if the object's class has a base class that devlint does not know.
    """
    if is_module(frame, value):
        return frozenset({"torch.nn.Module", "Callable"})
    info = defined_class(thing.cls)
    return frozenset() if info is not None and not has_unknown_base(frame, info) else None


def _is_of_library_class(frame: Frame, thing: Instance, type_: LibraryName) -> bool | None:
    """Return whether an object's class is a given library class or derives from that class; None if unknown.

    A layer or loss of torch is no instance of another one, unless torch derives its class from the other's.
    """
    if isinstance(thing.cls, str):
        own, other = frame.analysis.table.canonical(thing.cls), frame.analysis.table.canonical(type_.name)
        if other in (own, f"torch.nn.{LAYER_BASES.get(own.removeprefix('torch.nn.'))}"):
            return True
        return False if _is_layer(frame, own) and _is_layer(frame, other) else None
    if isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo):
        return True if type_ in ancestors(frame, thing.cls.definition) else None
    return None


def _is_layer(frame: Frame, name: str) -> bool:
    """Return whether a name is that of a layer or loss of `torch.nn`, not of a container, wrapper or base class."""
    row = frame.analysis.table.find(name) if name.startswith("torch.nn.") else None
    return row is not None and row.module is not None


def _is_of_program_class(frame: Frame, value: Value, type_: ProgramDefinition) -> bool | None:
    """Return whether a value is an instance of one of the program's classes; None if unknown."""
    assert isinstance(type_.definition, ClassInfo)
    thing = frame.instance(value)
    if thing is None:
        plain = isinstance(value, (Tensor, Const, Number, SymbolicBool, StringPrefix, Array, DeviceValue, DtypeValue))
        plain = plain or isinstance(value, Ref) or (isinstance(value, Tuple) and not value.names)
        return False if plain and not has_unknown_base(frame, type_.definition) else None
    if isinstance(thing.cls, str):
        return None
    if not (isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo)):
        return None
    info = thing.cls.definition
    if ProgramDefinition(type_.definition) in ancestors(frame, info):
        return True
    return None if has_unknown_base(frame, info) else False
