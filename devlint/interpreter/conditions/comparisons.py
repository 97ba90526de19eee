"""The values of comparisons (`==`, `is`, `in`, ...), by the kinds of their operands."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import libcst as cst

from devlint.domain.device import DEVICE_TYPES
from devlint.domain.dtype import Dtype
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.questions import Question, comparison_question, difference_question, mirrored_kind
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    ClassOf,
    ConditionalValue,
    Const,
    DeviceType,
    DeviceValue,
    DtypeValue,
    LibraryName,
    Number,
    ProgramDefinition,
    Ref,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeName,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.abstract_bools import bool_value, choose_bool, condition_text, negate_bool
from devlint.interpreter.conditions.class_comparisons import is_class
from devlint.interpreter.conditions.compared_devices import (
    may_be_given_as_device,
    may_be_text,
    report_device_comparison,
)
from devlint.interpreter.conditions.condition_texts import SourceText
from devlint.interpreter.conditions.constant_comparisons import compare_choice, compare_constants, compare_index
from devlint.interpreter.conditions.device_equality import (
    device_type_condition,
    devices_equal,
    named_device,
    same_device,
    types_equal,
)
from devlint.interpreter.conditions.length_comparisons import compare_dimension, compare_length
from devlint.interpreter.conditions.membership import evaluate_membership
from devlint.interpreter.conditions.named_numbers import named_number
from devlint.interpreter.conditions.narrowing import IDENTITY, negate_condition, none_condition
from devlint.interpreter.conditions.rank_comparisons import compare_rank
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.enums import is_same_member
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.operations.table_operations import apply_bound_row
from devlint.interpreter.state.arguments import Argument, Arguments
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
        found = evaluate_membership(frame, node, left.value, right.value)
        return negate_bool(found) if type(operator) is cst.NotIn else found
    a, b = left.value, right.value
    if type(operator) in EQUALITY:
        equal = _equality(frame, node, left, right, type(operator) is cst.NotEqual)
        if equal is not None:
            return negate_bool(equal) if type(operator) is cst.NotEqual else equal
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return _compare_tensors(frame, node, operator, left, right)
    if isinstance(a, Array) or isinstance(b, Array):
        return Array()
    if isinstance(a, Const) and isinstance(b, Const):
        known = compare_constants(operator, a, b)
        return Const(known) if known is not None else Number("bool")
    holds = type(operator) is not cst.NotEqual
    about_length = compare_length(operator, a, b, Atom(frame.site_key(node), condition_text(frame, node)))
    if about_length is not None:
        return Const(about_length) if isinstance(about_length, bool) else SymbolicBool(about_length)
    has_elements = compare_dimension(operator, a, left.node, b)
    if has_elements is not None:
        atom = Atom(("filled", *frame.site_key(node)), SourceText(frame.place(left.node), left.node, " > 0"))
        return SymbolicBool(Literal(atom, has_elements))
    about_rank = compare_rank(frame, left.node, operator, b) if isinstance(a, Number) else None
    if about_rank is not None:
        return Const(about_rank)
    chosen = compare_choice(operator, a, b) if isinstance(b, Const) else None
    if chosen is not None:
        return Const(chosen) if isinstance(chosen, bool) else SymbolicBool(chosen)
    question = _question(frame, operator, left, right)
    atom = Atom(_condition_key(frame, node, operator, a, b), condition_text(frame, node), question=question)
    return SymbolicBool(Literal(atom, holds))


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


def _question(frame: Frame, operator: cst.BaseCompOp, left: Argument, right: Argument) -> Question | None:
    """Return the question that a comparison of a named value with a constant, or of two named values, asks.

    The result is None for any other comparison. `!=` asks the question of `==`, since it is the negation.
    """
    kind = "Equal" if type(operator) is cst.NotEqual else type(operator).__name__
    match left.value, right.value:
        case (Unknown() | Number(), Const(value=constant)):
            subject = _subject(frame, left)
            return None if subject is None else comparison_question(subject, kind, constant)
        case (Const(value=constant), Unknown() | Number()):
            subject = _subject(frame, right)
            return None if subject is None else comparison_question(subject, mirrored_kind(kind), constant)
        case (Unknown() | Number(), Unknown() | Number()):
            subjects = _subject(frame, left), _subject(frame, right)
            return None if None in subjects else difference_question(subjects[0], kind, subjects[1])
    return None


def _subject(frame: Frame, side: Argument) -> Hashable:
    """Return the identity of an unknown value or number that a comparison asks about; None for one without a name."""
    assert isinstance(side.value, (Unknown, Number))
    return side.value.origin if side.value.origin is not None else named_number(frame, side.node)


def _identity(frame: Frame, node: cst.Comparison, operator: cst.BaseCompOp, left: Argument, right: Argument) -> Value:
    """Return the abstract bool for `left is right` or `left is not right`."""
    negative = type(operator) is cst.IsNot
    if NONE in (left.value, right.value):
        other = left if right.value == NONE else right
        answer = none_condition(frame, other.value, other.node)
        value: Value = Const(answer) if isinstance(answer, bool) else SymbolicBool(answer)
        return negate_bool(value) if negative else value
    if isinstance(left.value, DeviceValue) and isinstance(right.value, DeviceValue):
        report_device_comparison(frame, node, "is not" if negative else "is", left, right)
    if isinstance(left.value, Const) and isinstance(right.value, Const):
        return Const((left.value == right.value) is not negative)
    same_class = is_class(frame, left.value, right.value)
    if same_class is not None:
        return bool_value(same_class if not negative else negate_condition(same_class))
    match left.value, right.value:
        case SymbolicBool(test=test), Const(value=bool(wanted)):
            return SymbolicBool(test if wanted is not negative else ~test)
        case ((Unknown(origin=origin) | Number(origin=origin)), Const(value=bool()) as wanted) if origin is not None:
            asked = comparison_question(origin, "Is", wanted.value)
            atom = Atom(("compare", "Is", origin, wanted), SourceText(frame.place(node), node), question=asked)
            return SymbolicBool(Literal(atom, not negative))
    return Number("bool")


def _equality(frame: Frame, node: cst.Comparison, left: Argument, right: Argument, negative: bool) -> Value | None:
    """Return the abstract bool for `left == right`; None for kinds of operands that this function does not compare.

    For those, the caller compares tensors elementwise, and makes a condition of any other comparison.
    """
    a, b = left.value, right.value
    if may_be_text(a) and may_be_text(b):
        # The same comparison may get a device on another path; rules then know that it is useful there.
        report_device_comparison(frame, node, "!=" if negative else "==", left, right)
    elif _is_device_with_given(frame, left, right):
        # It may get a string on another path.
        report_device_comparison(frame, node, "!=" if negative else "==", left, right)
    match a, b:
        case (DeviceValue(), DeviceValue() | Const(value=str())) | (Const(value=str()), DeviceValue()):
            report_device_comparison(frame, node, "!=" if negative else "==", left, right)
            return devices_equal(frame, node, a, b)
        case (DeviceValue(), Unknown(origin=origin)) | (Unknown(origin=origin), DeviceValue()) if origin is not None:
            return devices_equal(frame, node, a, b)
        case (DeviceValue(), ConditionalValue(test=Literal())) | (ConditionalValue(test=Literal()), DeviceValue()):
            return devices_equal(frame, node, a, b)
        case (DeviceType(placement=placement), Const(value=str(text))) | (
            Const(value=str(text)),
            DeviceType(placement=placement),
        ):
            return device_type_condition(frame, placement, text, node)
        case (DeviceType(placement=one), DeviceType(placement=other)):
            return same_device(frame, node, one, other)
        case (TypeName(), TypeName() | Const(value=str())) | (Const(value=str()), TypeName()):
            return types_equal(frame, node, a, b)
        case (Unknown(origin=origin, text=text), Const(value=str(type_))) if origin and type_ in DEVICE_TYPES:
            return device_type_condition(frame, named_device(origin, text), type_, node)
        case (DtypeValue(), DtypeValue()):
            if a.dtype.name is not None and b.dtype.name is not None:
                return Const(a.dtype.name == b.dtype.name)
            return _same_dtype_in_case(a.dtype, b.dtype) or Number("bool")
        case (Const(), Const()):
            return Const(a.value == b.value)
        case (ConditionalValue() as several, Const() as one) | (Const() as one, ConditionalValue() as several):
            return compare_with_constant(frame, several, one, node, condition_text(frame, node))
        case (ProgramDefinition() | LibraryName(), ProgramDefinition() | LibraryName()):
            return Const(a == b)
        case (ClassOf(), _) | (_, ClassOf()) if (same_class := is_class(frame, a, b)) is not None:
            return bool_value(same_class)
    return None


def _is_device_with_given(frame: Frame, left: Argument, right: Argument) -> bool:
    """Return whether one of two operands is a device, and the other may be a device that unknown code has chosen."""
    device, other = (left, right) if isinstance(left.value, DeviceValue) else (right, left)
    return isinstance(device.value, DeviceValue) and may_be_given_as_device(frame, other)


def _same_dtype_in_case(left: Dtype, right: Dtype) -> Value | None:
    """Return whether a dtype that depends on a condition equals a known one; None for other dtypes."""
    if right.cases:
        left, right = right, left
    if right.name is None or not left.cases or any(dtype.name is None for _, dtype in left.cases):
        return None
    equal = [test for test, dtype in left.cases if dtype.name == right.name]
    return Const(False) if not equal else SymbolicBool(equal[0]) if len(equal) == 1 else None


def compare_with_constant(frame: Frame, value: Value, constant: Const, node: cst.CSTNode, text: object) -> Value:
    """Return whether a value equals a constant: a constant bool, a symbolic bool, or an unknown bool."""
    match value:
        case Const():
            return Const(value.value == constant.value)
        case ConditionalValue(test=test, yes=yes, no=no):
            sides = [compare_with_constant(frame, one, constant, node, text) for one in (yes, no)]
            return choose_bool(test, sides[0], sides[1])
        case DeviceType(placement=placement) | DeviceValue(placement=placement) if isinstance(constant.value, str):
            return device_type_condition(frame, placement, constant.value, node)
        case Unknown(origin=origin, text=named_) if origin and constant.value in DEVICE_TYPES:
            return device_type_condition(frame, named_device(origin, named_), str(constant.value), node)
        case Number() if (equal := compare_index(cst.Equal(), value, constant)) is not None:
            return Const(equal)
        case Unknown(origin=origin) | Number(origin=origin) if origin is not None:
            asked = comparison_question(origin, "Equal", constant.value)
            return SymbolicBool(Literal(Atom(("compare", "Equal", origin, constant), text, question=asked)))
        case SymbolicBool(test=test) if isinstance(constant.value, (bool, int)):
            return Const(False) if constant.value not in (0, 1) else SymbolicBool(test if constant.value else ~test)
        case Tensor() | Array() | Tuple() | ProgramDefinition():
            return Const(False)
    return Number("bool")


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
