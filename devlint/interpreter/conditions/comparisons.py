"""The values of comparisons (`==`, `is`, `in`, ...), most of all of comparisons between devices and device strings."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import libcst as cst

from devlint.domain.availability import is_available
from devlint.domain.device import (
    ACCELERATOR,
    DEVICE_TYPES,
    HOST,
    UNPLACED,
    DeviceRelation,
    DeviceSymbol,
    KnownDevice,
    relate_devices,
)
from devlint.domain.join import join
from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Atom, Literal, conditional
from devlint.domain.placement import ConditionalPlacement, Placement, PlacementCase
from devlint.domain.questions import Question, comparison_question
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    AllocationSite,
    Array,
    ConditionalValue,
    Const,
    DeviceType,
    DeviceValue,
    DtypeValue,
    LibraryName,
    Number,
    ProgramDefinition,
    Ref,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeName,
    Unknown,
    Value,
    named_placement,
)
from devlint.interpreter.conditions.condition_texts import ConditionText, EqualityText, SourceText
from devlint.interpreter.conditions.constant_comparisons import compare_choice, compare_constants
from devlint.interpreter.conditions.length_comparisons import compare_length, mirrored
from devlint.interpreter.conditions.narrowing import IDENTITY, none_condition
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.enums import is_same_member
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.operations.table_operations import apply_bound_row
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.device_facts import CURRENT_ACCELERATOR, DEVICE_COUNT, device_type_atom
from devlint.interpreter.state.events import DevicesCompared
from devlint.interpreter.state.frame import Frame

MEMBERSHIP: Final = frozenset({cst.In, cst.NotIn})
"""The libcst types of the operators `in` and `not in`."""
EQUALITY: Final = frozenset({cst.Equal, cst.NotEqual})
"""The libcst types of the operators `==` and `!=`."""
_METHODS: Final[dict[type, str]] = {
    cst.Equal: "__eq__",
    cst.NotEqual: "__ne__",
    cst.LessThan: "__lt__",
    cst.LessThanEqual: "__le__",
    cst.GreaterThan: "__gt__",
    cst.GreaterThanEqual: "__ge__",
    cst.In: "__contains__",
}
"""The special methods of comparison operators, by libcst operator type."""


def evaluate_comparison(
    frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, left: Argument, right: Argument
) -> Value:
    """Return the value of one comparison: a constant bool, a symbolic bool for a condition, or an unknown bool."""
    if isinstance(left.value, Ref) and isinstance(right.value, Ref):
        same = is_same_member(left.value, right.value)
        if same is not None and isinstance(operator, (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)):
            return Const(same is not isinstance(operator, (cst.IsNot, cst.NotEqual)))
    if type(operator) in IDENTITY:
        return _identity(frame, node, operator, left, right)
    own = _call_own_method(frame, node, operator, left, right)
    if own is not None:
        return own
    if type(operator) in MEMBERSHIP:
        found = _contains(frame, node, left.value, right.value)
        return _negate(found) if type(operator) is cst.NotIn else found
    a, b = left.value, right.value
    if type(operator) in EQUALITY:
        equal = _equality(frame, node, left, right, type(operator) is cst.NotEqual)
        if equal is not None:
            return _negate(equal) if type(operator) is cst.NotEqual else equal
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return _compare_tensors(frame, node, operator, left, right)
    if isinstance(a, Array) or isinstance(b, Array):
        return Array()
    if isinstance(a, Const) and isinstance(b, Const):
        known = compare_constants(operator, a, b)
        return Const(known) if known is not None else Number("bool")
    counted = _presence_of_device(operator, a, b)
    if counted is not None:
        return SymbolicBool(counted)
    holds = type(operator) is not cst.NotEqual
    about_length = compare_length(operator, a, b, Atom(frame.site_key(node), _condition_text(frame, node)))
    if about_length is not None:
        return Const(about_length) if isinstance(about_length, bool) else SymbolicBool(about_length)
    chosen = compare_choice(operator, a, b) if isinstance(b, Const) else None
    if chosen is not None:
        return Const(chosen) if isinstance(chosen, bool) else SymbolicBool(chosen)
    atom = Atom(
        _condition_key(frame, node, operator, a, b), _condition_text(frame, node), question=_question(operator, a, b)
    )
    return SymbolicBool(Literal(atom, holds))


_PRESENCE: Final[dict[tuple[type, Hashable], bool]] = {
    (cst.GreaterThan, 0): True,
    (cst.GreaterThanEqual, 1): True,
    (cst.NotEqual, 0): True,
    (cst.Equal, 0): False,
    (cst.LessThan, 1): False,
    (cst.LessThanEqual, 0): False,
}
"""The comparisons of a number of devices, by operator and right operand, that say whether there is a device."""


def _presence_of_device(operator: cst.BaseCompOp, left: Value, right: Value) -> Literal | None:
    """Return the condition that `torch.cuda.device_count() > 0` or the like states; None for other comparisons."""
    match left, right:
        case Number(origin=(kind, str(type_))), Const(value=int(number)) if kind == DEVICE_COUNT:
            there = _PRESENCE.get((type(operator), number))
            return None if there is None else is_available(type_) if there else ~is_available(type_)
    return None


def _contains(frame: Frame, node: cst.Comparison, text: Value, whole: Value) -> Value:
    """Return the abstract bool for `part in whole`.

    If `part` is a device type's name such as "cuda" and `whole` is a device or type string, the device type is tested.
    """
    if isinstance(text, Const) and text.value in DEVICE_TYPES:
        match whole:
            case DeviceType(placement=placement):
                return device_type_condition(frame, placement, str(text.value), node)
            case TypeName(placement=placement) if text.value != HOST:
                return device_type_condition(frame, placement, str(text.value), node)
            case Unknown(origin=origin, text=name) if origin is not None:
                return device_type_condition(frame, _named_device(origin, name), str(text.value), node)
    known = _is_contained(frame, whole, text)
    if isinstance(known, Literal):
        return SymbolicBool(known)
    return Const(known) if known is not None else _undecided(frame, node)


def _is_contained(frame: Frame, whole: Value, part: Value) -> Literal | bool | None:
    """Return whether a constant is in a container, or the condition under which it is; None if unknown.

    The answer is None for a constant that a list or a dict lacks, since code that devlint does not follow may add it,
    except for a dict that the function being run has made and kept from such code.
    """
    if not isinstance(part, Const):
        return None
    match whole:
        case Tuple(items=items) if part in items or all(isinstance(one, Const) for one in items):
            return part in items
        case Ref(address=address):
            match frame.get(address):
                case Sequence(items=tuple() as items) if part in items:
                    return True
                case Dict(entries=entries, optional=perhaps, is_open=is_open) if part.value in entries:
                    return True if part.value not in perhaps else None if is_open else perhaps[part.value]
                case Dict(element=None, object=None, is_open=False) if _is_of_this_call(frame, address):
                    return False
    return None


def _is_of_this_call(frame: Frame, address: AllocationSite) -> bool:
    """Return whether the function being run has made the object at an allocation site, in this call of it."""
    return frame.function is not None and address.context == frame.context


def _call_own_method(
    frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, left: Argument, right: Argument
) -> Value | None:
    """Return the result of a comparison method (`__eq__`, `__contains__`) that an operand's own class defines.

    The result is None if the class defines none.
    """
    if type(operator) in MEMBERSHIP:
        left, right = right, left
    function = find_special_method(frame, left.value, _METHODS.get(type(operator), ""))
    return frame.call_function(function, left.value, Arguments(node, [right])) if function is not None else None


def _condition_key(frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, a: Value, b: Value) -> Hashable:
    """Return the key that identifies the condition of a comparison in path conditions.

    It is made of the comparison's operands if both are named, otherwise of its source location. `!=` has the key of
    `==`, since it is the negation.
    """
    sides = [value.origin if isinstance(value, (Unknown, Number)) else value for value in (a, b)]
    if all(isinstance(value, (Unknown, Number, Const)) for value in (a, b)) and None not in sides:
        kind = "Equal" if type(operator) is cst.NotEqual else type(operator).__name__
        return ("compare", kind, *sides)
    return frame.site_key(node)


def _question(operator: cst.BaseCompOp, a: Value, b: Value) -> Question | None:
    """Return the question that a comparison of a named value with a constant asks; None for any other comparison.

    `!=` asks the question of `==`, since it is the negation.
    """
    kind = mirrored(type(operator)) if isinstance(a, Const) else type(operator)
    match (b, a) if isinstance(a, Const) else (a, b):
        case (Unknown(origin=origin) | Number(origin=origin), Const(value=constant)) if origin is not None and kind:
            return comparison_question(origin, "Equal" if kind is cst.NotEqual else kind.__name__, constant)
    return None


def _undecided(frame: Frame, node: cst.CSTNode) -> SymbolicBool:
    """Return the abstract bool of a comparison of which nothing is known but its place in the source."""
    return SymbolicBool(Literal(Atom(frame.site_key(node), _condition_text(frame, node))))


def _condition_text(frame: Frame, node: cst.CSTNode) -> ConditionText:
    """Return an object that prints as the source text of a comparison; `!=` is printed as `==`.

    The text is generated only when it is printed.
    """
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.NotEqual())]):
            return EqualityText(frame.place(node), node)
    return SourceText(frame.place(node), node)


def _identity(frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, left: Argument, right: Argument) -> Value:
    """Return the abstract bool for `left is right` or `left is not right`."""
    negative = type(operator) is cst.IsNot
    if NONE in (left.value, right.value):
        other = left if right.value == NONE else right
        answer = none_condition(frame, other.value, other.node)
        value: Value = Const(answer) if isinstance(answer, bool) else SymbolicBool(answer)
        return _negate(value) if negative else value
    if isinstance(left.value, DeviceValue) and isinstance(right.value, DeviceValue):
        _report_device_comparison(frame, node, "is not" if negative else "is", left, right)
    if isinstance(left.value, Const) and isinstance(right.value, Const):
        return Const((left.value == right.value) is not negative)
    match left.value, right.value:
        case SymbolicBool(test=test), Const(value=bool(wanted)):
            return SymbolicBool(test if wanted is not negative else ~test)
        case ((Unknown(origin=origin) | Number(origin=origin)), Const(value=bool()) as wanted) if origin is not None:
            asked = comparison_question(origin, "Is", wanted.value)
            atom = Atom(("compare", "Is", origin, wanted), SourceText(frame.place(node), node), question=asked)
            return SymbolicBool(Literal(atom, not negative))
    return Number("bool")


def _negate(value: Value) -> Value:
    """Return the negation of an abstract bool; an unknown bool stays unknown."""
    match value:
        case Const(value=bool(known)):
            return Const(not known)
        case SymbolicBool(test=test):
            return SymbolicBool(~test)
    return value


def _equality(frame: Frame, node: cst.Comparison, left: Argument, right: Argument, negative: bool) -> Value | None:
    """Return the abstract bool for `left == right`; None for kinds of operands that this function does not compare.

    For those, the caller compares tensors elementwise, and makes a condition of any other comparison.
    """
    a, b = left.value, right.value
    if _may_be_text(a) and _may_be_text(b):
        # The same comparison may get a device on another path; rules then know that it is useful there.
        _report_device_comparison(frame, node, "!=" if negative else "==", left, right)
    match a, b:
        case (DeviceValue(), DeviceValue() | Const(value=str())) | (Const(value=str()), DeviceValue()):
            _report_device_comparison(frame, node, "!=" if negative else "==", left, right)
            return _devices_equal(frame, node, a, b)
        case (DeviceValue(), Unknown(origin=origin)) | (Unknown(origin=origin), DeviceValue()) if origin is not None:
            return _devices_equal(frame, node, a, b)
        case (DeviceValue(), ConditionalValue(test=Literal())) | (ConditionalValue(test=Literal()), DeviceValue()):
            return _devices_equal(frame, node, a, b)
        case (DeviceType(placement=placement), Const(value=str(text))) | (
            Const(value=str(text)),
            DeviceType(placement=placement),
        ):
            return device_type_condition(frame, placement, text, node)
        case (DeviceType(placement=one), DeviceType(placement=other)):
            return _same_device(frame, node, one, other)
        case (TypeName(), TypeName() | Const(value=str())) | (Const(value=str()), TypeName()):
            return _types_equal(frame, node, a, b)
        case (Unknown(origin=origin, text=text), Const(value=str(type_))) if origin and type_ in DEVICE_TYPES:
            return device_type_condition(frame, _named_device(origin, text), type_, node)
        case (DtypeValue(), DtypeValue()):
            if a.dtype.name is not None and b.dtype.name is not None:
                return Const(a.dtype.name == b.dtype.name)
            return Number("bool")
        case (Const(), Const()):
            return Const(a.value == b.value)
        case (ConditionalValue() as several, Const() as one) | (Const() as one, ConditionalValue() as several):
            return compare_with_constant(frame, several, one, node, _condition_text(frame, node))
        case (ProgramDefinition() | LibraryName(), ProgramDefinition() | LibraryName()):
            return Const(a == b)
    return None


def _types_equal(frame: Frame, node: cst.Comparison, a: Value, b: Value) -> Value:
    """Return whether two tensor types, as `x.type()` returns them, have the same device type and the same dtype."""
    placements = [_placement_of_type(frame, one) for one in (a, b)]
    devices = [one.device for one in placements if isinstance(one, PlacementCase)]
    if len(devices) == 2 and relate_devices(*devices) is DeviceRelation.DIFFERENT:
        return Const(False)
    asked = frozenset(one.origin for one in devices if isinstance(one, DeviceSymbol))
    return SymbolicBool(Literal(Atom(("same type", asked, frame.site_key(node)), _condition_text(frame, node))))


def _placement_of_type(frame: Frame, value: Value) -> Placement | None:
    """Return the placement that a tensor type such as "torch.cuda.FloatTensor" implies; None for any other value."""
    match value:
        case TypeName(placement=placement):
            return placement
        case Const(value=str(name)):
            found = legacy_type(frame, name, None)
            return found[0] if found is not None else None
    return None


def _may_be_text(value: Value) -> bool:
    """Return whether a value may be a string, and so may name a device.

    It may if it is a string constant, a parameter with a `str` annotation or a string default, or an unknown value
    without a name.
    """
    match value:
        case Const(value=str()) | StringPrefix() | Unknown(origin=None):
            return True
        case ConditionalValue(yes=yes, no=no):
            return _may_be_text(yes) or _may_be_text(no)
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            parameter = next((one for one in info.parameters if one.name == name), None)
            return parameter is not None and (
                isinstance(parameter.default, cst.SimpleString) or "str" in info.annotation_last_names(name)
            )
    return False


def compare_with_constant(frame: Frame, value: Value, constant: Const, node: cst.CSTNode, text: object) -> Value:
    """Return whether a value equals a constant: a constant bool, a symbolic bool, or an unknown bool."""
    match value:
        case Const():
            return Const(value.value == constant.value)
        case ConditionalValue(test=test, yes=yes, no=no):
            sides = [compare_with_constant(frame, one, constant, node, text) for one in (yes, no)]
            return _choose(test, sides[0], sides[1])
        case DeviceType(placement=placement) | DeviceValue(placement=placement) if isinstance(constant.value, str):
            return device_type_condition(frame, placement, constant.value, node)
        case Unknown(origin=origin, text=named_) if origin and constant.value in DEVICE_TYPES:
            return device_type_condition(frame, _named_device(origin, named_), str(constant.value), node)
        case Unknown(origin=origin) | Number(origin=origin) if origin is not None:
            asked = comparison_question(origin, "Equal", constant.value)
            return SymbolicBool(Literal(Atom(("compare", "Equal", origin, constant), text, question=asked)))
        case SymbolicBool(test=test) if isinstance(constant.value, (bool, int)):
            return Const(False) if constant.value not in (0, 1) else SymbolicBool(test if constant.value else ~test)
        case Tensor() | Array() | Tuple() | ProgramDefinition():
            return Const(False)
    return Number("bool")


def _choose(test: Literal | None, yes: Value, no: Value) -> Value:
    """Return an abstract bool that is `yes` where the condition `test` holds and `no` where it does not.

    If neither `yes` nor `no` is an unknown bool, the result is a single condition; otherwise it is their join.
    """
    left, right = _as_condition(yes), _as_condition(no)
    if test is None or left is None or right is None:
        return join(yes, no, test)
    both = conditional(test, left, right)
    return Const(both) if isinstance(both, bool) else SymbolicBool(both)


def _as_condition(value: Value) -> Literal | bool | None:
    """Return the condition that an abstract bool stands for: a bool or a literal; None for an unknown bool."""
    match value:
        case Const(value=bool(known)):
            return known
        case SymbolicBool(test=test):
            return test
    return None


def _devices_equal(frame: Frame, node: cst.Comparison, a: Value, b: Value) -> Value:
    """Return the abstract bool that says whether two devices are equal on the current path.

    A device written as a string is compared by its type only, which is what programs mean by the comparison.
    """
    if isinstance(b, ConditionalValue):
        a, b = b, a
    match a:
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            return _choose(test, _devices_equal(frame, node, yes, b), _devices_equal(frame, node, no, b))
        case Const(value=None):
            return Const(False)
    left, right = _placement_of_device(a), _placement_of_device(b)
    return _same_device(frame, node, left, right) if left is not None and right is not None else Number("bool")


def _placement_of_device(value: Value) -> Placement | None:
    """Return the placement that a device value, a device string or a named unknown denotes; None for other values."""
    match value:
        case DeviceValue(placement=placement):
            return placement
        case Const(value=str(text)):
            return PlacementCase(KnownDevice(text.partition(":")[0]))
        case Unknown(origin=origin, text=text) if origin is not None:
            return named_placement(origin, text)
    return None


def _named_device(origin: Hashable, text: str) -> Placement:
    """Return the placement of a named unknown value that is compared with a device type such as "cuda".

    The value is either a device or the `.type` of a device; in both cases the placement is that of the device.
    """
    if isinstance(origin, tuple) and origin[0] == "attr" and origin[2] == "type":
        origin, text = origin[1], text.removesuffix(".type")
    return named_placement(origin, text)


def _same_device(frame: Frame, node: cst.Comparison, left: Placement, right: Placement) -> Value:
    """Return whether two placements are the same device, as a constant or symbolic bool."""
    if isinstance(right, ConditionalPlacement):
        left, right = right, left
    if isinstance(left, ConditionalPlacement):
        yes, no = _same_device(frame, node, left.yes, right), _same_device(frame, node, left.no, right)
        return _choose(Literal(left.formula), yes, no)
    assert isinstance(right, PlacementCase)
    for device, other in ((left.device, right), (right.device, left)):
        if isinstance(device, KnownDevice):
            return device_type_condition(frame, other, device.type, node)
    match left.device, right.device:
        case DeviceSymbol(origin=first), DeviceSymbol(origin=second):
            if first == second:
                return Const(True)
            return SymbolicBool(
                Literal(Atom(("same device", frozenset({first, second})), _condition_text(frame, node)))
            )
    return _undecided(frame, node)


def device_type_condition(frame: Frame, placement: Placement, type_: str, node: cst.CSTNode) -> Value:
    """Return whether the device of a placement has a type such as "cuda", as a constant or symbolic bool."""
    if isinstance(placement, ConditionalPlacement):
        return _choose(
            Literal(placement.formula),
            device_type_condition(frame, placement.yes, type_, node),
            device_type_condition(frame, placement.no, type_, node),
        )
    match placement.device:
        case KnownDevice(type=known) if known != type_ and ACCELERATOR in (known, type_):
            named = type_ if known == ACCELERATOR else known
            if named == HOST or named in UNPLACED:
                return Const(False)
            return SymbolicBool(Literal(device_type_atom(CURRENT_ACCELERATOR, named, _condition_text(frame, node))))
        case KnownDevice(type=known):
            return Const(known == type_)
        case DeviceSymbol(origin=origin):
            return SymbolicBool(Literal(device_type_atom(origin, type_, _condition_text(frame, node))))
    return _undecided(frame, node)


def _report_device_comparison(
    frame: Frame, node: cst.Comparison, operator: str, left: Argument, right: Argument
) -> None:
    """Report to the rules the comparison of two values, each of which is a device or may be a device string."""
    frame.emit(
        DevicesCompared(
            frame.event_context(node), operator, left.value, right.value, _written_device(right), _written_device(left)
        )
    )


def _written_device(argument: Argument) -> str | None:
    """Return the device string that an operand writes out, directly or inside `torch.device(...)`.

    The result is None for any other operand.
    """
    match argument.node:
        case cst.Call(args=[cst.Arg(value=cst.SimpleString() as string), *_]) | (cst.SimpleString() as string):
            value = string.evaluated_value
            return value if isinstance(value, str) else None
    return argument.value.value if isinstance(argument.value, Const) and isinstance(argument.value.value, str) else None


def _compare_tensors(
    frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, left: Argument, right: Argument
) -> Value:
    """Return the elementwise comparison of tensors, by its row in devlint's table of torch's semantics."""
    row = frame.analysis.table.method(_METHODS.get(type(operator), ""))
    if row is None:
        return UNKNOWN
    own, other = (left, right) if isinstance(left.value, Tensor) else (right, left)
    other = Argument(as_forward_operand(frame, other.value, own.value), other.node)
    if isinstance(other.value, Unknown):
        other = Argument(Number(), other.node)
    names = [name for name in row.params if name != "*"]
    return apply_bound_row(frame, row, {names[0]: [own], names[1]: [other]}, node)
