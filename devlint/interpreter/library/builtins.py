"""Models of builtins that ask for a value's type or attributes, or convert a value to a Python number or string."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives, without_none
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    DeviceType,
    DeviceValue,
    LibraryName,
    Number,
    OpaqueData,
    Ref,
    Size,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeUnion,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.abstract_bools import bool_value
from devlint.interpreter.conditions.attribute_checks import has_attribute
from devlint.interpreter.conditions.class_comparisons import class_of
from devlint.interpreter.conditions.condition_texts import SourceText
from devlint.interpreter.conditions.instance_checks import TENSOR, instance_condition, instance_key
from devlint.interpreter.conditions.length_comparisons import length
from devlint.interpreter.conditions.narrowing import report_host_read, truth_condition
from devlint.interpreter.language.attribute_stores import set_attribute
from devlint.interpreter.objects.absent_attributes import OPTIONS_CLASSES, surely_lacks
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.module_containers import any_submodule
from devlint.interpreter.objects.module_state import ANY_PART, is_module
from devlint.interpreter.objects.sequence_lengths import filled_condition
from devlint.interpreter.objects.unseen_parts import forget_part
from devlint.interpreter.operations.accelerator_names import text_of_accelerator
from devlint.interpreter.operations.empty_tensors import size_of
from devlint.interpreter.state.arguments import Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call
from devlint.semantics import accelerators

_SCALARS: Final = TypeUnion(
    tuple(LibraryName(name) for name in ("numbers.Number", "builtins.str", "builtins.bytes", "numpy.generic"))
)
"""The types of what NumPy takes for a scalar; arrays of no dimension are none, but devlint cannot tell them apart."""


@models_call("builtins.len")
def len_(frame: Frame, call: LibraryCall) -> Value:
    """Model `len(x)`: the object's `__len__`, the known length of a container, or an unknown integer.

    The length of a sequence of unknown elements remembers the condition that there are any.
    """
    value = call.first.value if call.first is not None else UNKNOWN
    function = find_special_method(frame, value, "__len__")
    if function is not None:
        return frame.call_function(function, value, Arguments(call.node))
    thing = frame.object_of(value)
    if isinstance(value, Tuple):
        return Const(len(value.items))
    if isinstance(value, Tensor) and value.empty_sizes:
        return size_of(value.empty_sizes, Const(0))
    if isinstance(value, Size) and value.empty_sizes is not None:
        return Const(len(value.empty_sizes))
    if isinstance(thing, Sequence) and thing.items is not None:
        return Const(len(thing.items))
    if isinstance(thing, Dict) and thing.element is None and not thing.optional:
        return Const(len(thing.entries))
    text = SourceText(frame.place(call.node), call.node, " > 0")
    filled = filled_condition(frame, value, Atom(("filled", *frame.site_key(call.node)), text))
    return length(filled, frame.site_key(call.node)) if filled is not None else Number("int")


@models_call("builtins.float", "builtins.int", "builtins.bool", "builtins.complex")
def number_constructor(frame: Frame, call: LibraryCall) -> Value:
    """Model `int(x)`, `float(x)`, `bool(x)` and `complex(x)`: a number; of a tensor, report the host read."""
    first = call.first
    kind = call.name.rpartition(".")[2]
    if first is None:
        return Number(kind)
    value = without_none(first.value)
    if isinstance(value, Tensor):
        report_host_read(frame, value, first.node, f"{kind}()")
    elif kind == "bool":
        test = truth_condition(frame, value, first.node)
        return Const(test) if isinstance(test, bool) else SymbolicBool(test) if test is not None else Number("bool")
    elif isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(float(value.value) if kind == "float" else int(value.value))
    return Number(kind)


@models_call("builtins.print", "builtins.str", "builtins.repr", "builtins.format")
def text_conversion(frame: Frame, call: LibraryCall) -> Value:
    """Model `print(x)`, `str(x)`, `repr(x)` and `format(x)`: report the host read of each tensor argument.

    `print` gives None. `str` of a constant is a constant, and `str` of a device is a value that still names the device;
    any other result is a string of unknown text.
    """
    for argument in call.arguments.positional:
        if isinstance(argument.value, Tensor):
            report_host_read(frame, argument.value, argument.node, f"{call.name.rpartition('.')[2]}()")
    first = call.first
    if call.name == "builtins.str" and first is not None and isinstance(first.value, Const):
        return Const(str(first.value.value))
    text = text_of_accelerator(first.value) if call.name == "builtins.str" and first is not None else None
    if text is not None:
        return text
    device = without_none(first.value) if call.name == "builtins.str" and first is not None else None
    if isinstance(device, DeviceValue):
        return DeviceType(device.placement, whole=True)
    return NONE if call.name == "builtins.print" else StringPrefix()


@models_call("builtins.input")
def input_(frame: Frame, call: LibraryCall) -> Value:
    """Model `input(...)`: the text that the user types, which may name any device, the same wherever it is used."""
    return Unknown(("typed", frame.site_key(call.node)), "the typed device")


@models_call("builtins.isinstance")
def isinstance_(frame: Frame, call: LibraryCall) -> Value:
    """Model `isinstance(x, T)`: a constant where the value and the type decide the answer, else a symbolic bool."""
    if len(call.arguments.positional) != 2:
        return Number("bool")
    value, type_ = (one.value for one in call.arguments.positional)
    return _instance_check(frame, call, value, type_)


@models_call("torch.is_tensor")
def is_tensor(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.is_tensor(x)`: a constant where the value decides the answer, else a symbolic bool."""
    return _instance_check(frame, call, call.first.value, TENSOR) if call.first is not None else Number("bool")


@models_call("numpy.isscalar")
def isscalar(frame: Frame, call: LibraryCall) -> Value:
    """Model `numpy.isscalar(x)`: a constant where the value decides the answer, else a symbolic bool."""
    return _instance_check(frame, call, call.first.value, _SCALARS) if call.first is not None else Number("bool")


def _instance_check(frame: Frame, call: LibraryCall, value: Value, type_: Value) -> Value:
    """Return whether a value is an instance of a type: a constant where that is known, else a symbolic bool.

    A condition that nothing decides is named by the source text of the call.
    """
    answer = instance_condition(frame, value, type_)
    if isinstance(answer, bool):
        return Const(answer)
    key = instance_key(frame, value, type_, call.node)
    return SymbolicBool(answer or Literal(Atom(key, SourceText(frame.place(call.node), call.node))))


@models_call("builtins.abs", "builtins.round", "builtins.pow", "builtins.divmod")
def arithmetic(frame: Frame, call: LibraryCall) -> Value:
    """Model `abs`, `round`, `pow` and `divmod`: a tensor remains a tensor, and an array an array.

    Unknown values remain unknown; any other argument gives a number.
    """
    first = call.first
    value = first.value if first is not None else UNKNOWN
    if isinstance(value, (Tensor, Array)):
        return replace(value, fresh=None)
    return UNKNOWN if isinstance(value, Unknown | OpaqueData) else Number()


@models_call("builtins.getattr")
def getattr_(frame: Frame, call: LibraryCall) -> Value:
    """Model `getattr(x, "name", default)`: the attribute, or the default where it is surely missing.

    The result is unknown where the attribute may be missing. Under a name that is not constant, it may be any part of a
    module.
    """
    arguments = call.arguments.positional
    if len(arguments) < 2:
        return UNKNOWN
    owner, name = arguments[0].value, arguments[1].value
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return _any_part(frame, owner)
    if len(arguments) > 2:
        if surely_lacks(frame, owner, name.value):
            return arguments[2].value
        if isinstance(owner, LibraryName) and accelerators.lacks(owner.name, name.value):
            return UNKNOWN
    value = frame.get_attribute(owner, name.value, call.node)
    return UNKNOWN if isinstance(value, Unknown) and len(arguments) > 2 else value


@models_call("builtins.setattr")
def setattr_(frame: Frame, call: LibraryCall) -> Value:
    """Model `setattr(x, "name", value)`: store the attribute.

    Under a name that is not constant, a submodule or parameter is registered in its module as an attribute of unknown
    name. Any other value may replace each tensor, device and constant that the object holds under a name with the known
    beginning.
    """
    arguments = call.arguments.positional
    if len(arguments) == 3:
        owner, name, value = (one.value for one in arguments)
        if isinstance(name, Const):
            set_attribute(frame, owner, str(name.value), value, call.node)
        elif is_module(frame, owner) and (is_module(frame, value) or _is_parameter(value)):
            set_attribute(frame, owner, ANY_PART + getattr(name, "prefix", ""), value, call.node)
        elif isinstance(owner, Ref) and (thing := frame.instance(owner)) is not None:
            _forget_attributes(frame, owner, thing, getattr(name, "prefix", ""))
        for one in alternatives(owner):
            forget_part(frame, one, value)
    return NONE


def _is_parameter(value: Value) -> bool:
    """Return whether a value is a parameter, which a module registers that gets it as an attribute."""
    return isinstance(value, Tensor) and value.cell is not None


def _any_part(frame: Frame, owner: Value) -> Value:
    """Return what stands for a part of a module, or of either of two modules, under an unknown name."""
    match owner:
        case ConditionalValue(yes=yes, no=no):
            return replace(owner, yes=_any_part(frame, yes), no=_any_part(frame, no))
        case Ref() if is_module(frame, owner):
            return any_submodule(owner)
    return UNKNOWN


def _forget_attributes(frame: Frame, owner: Ref, thing: Instance, prefix: str) -> None:
    """Make unknown what an object's attributes hold whose names begin with a prefix; submodules and parameters stay.

    Parsed options may then have attributes of other names.
    """
    attributes = dict(thing.attributes)
    for name, value in thing.attributes.items():
        if not name.startswith(prefix):
            continue
        if isinstance(value, Tensor) and value.cell is None:
            attributes[name] = replace(value, placement=UNKNOWN_PLACEMENT, dtype=UNKNOWN_DTYPE, fresh=None, memory=None)
        elif isinstance(value, (DeviceValue, Const)):
            attributes[name] = UNKNOWN
    if thing.cls in OPTIONS_CLASSES:
        attributes[ANY_PART] = UNKNOWN
    frame.put(owner.address, replace(thing, attributes=attributes))


@models_call("builtins.type")
def type_(frame: Frame, call: LibraryCall) -> Value:
    """Model `type(x)`: the class of `x`, by its name where the program defines it or `x` is a builtin container."""
    arguments = call.arguments.positional
    return class_of(frame, arguments[0].value) if len(arguments) == 1 else UNKNOWN


@models_call("builtins.hasattr")
def hasattr_(frame: Frame, call: LibraryCall) -> Value:
    """Model `hasattr(x, "name")`: a constant where the answer is known, else a symbolic bool.

    True for an attribute that the program has set on `x`, False for one that it surely has not. If only some paths have
    set the attribute, the symbolic bool is the condition of these paths.
    """
    arguments = call.arguments.positional
    if len(arguments) == 2 and isinstance(arguments[1].value, Const):
        answer = has_attribute(frame, arguments[0].value, str(arguments[1].value.value))
        if answer is not None:
            return bool_value(answer)
    return SymbolicBool(Literal(Atom(frame.site_key(call.node), SourceText(frame.place(call.node), call.node))))
