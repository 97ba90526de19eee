"""Handlers of Python's operators on tensors, arrays, numbers, strings, containers and devices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives, is_number_or_tensor, join, without_none
from devlint.domain.objects import Dict, Sequence, filled_by_either
from devlint.domain.path_conditions import Literal, conjunction, disjunction
from devlint.domain.placement import UNKNOWN_PLACEMENT, map_cases
from devlint.domain.value import (
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    LibraryName,
    Number,
    OpaqueData,
    ProgramDefinition,
    Rank,
    Ref,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeUnion,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.conditions.alternatives import compute_per_alternative
from devlint.interpreter.conditions.comparisons import evaluate_comparison
from devlint.interpreter.conditions.narrowing import condition_of, narrow, negate_condition
from devlint.interpreter.language.expressions import concatenated, truth
from devlint.interpreter.numpy.array_calls import apply_array_operator
from devlint.interpreter.numpy.mixed_operators import apply_numpy_operator, is_computed_by_numpy
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.collections import merge_dicts
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.synchronization import check_clock_difference
from devlint.interpreter.operations.table_operations import apply_bound_row
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame, evaluates

MAX_REPEATED: Final = 8
"""The length up to which `[x] * n` is a list of known elements, which a program may set one by one."""

SPECIAL_METHOD_OF_OPERATOR: Final[dict[type, str]] = {
    cst.Add: "add",
    cst.Subtract: "sub",
    cst.Multiply: "mul",
    cst.Divide: "truediv",
    cst.FloorDivide: "floordiv",
    cst.Modulo: "mod",
    cst.Power: "pow",
    cst.MatrixMultiply: "matmul",
    cst.BitAnd: "and",
    cst.BitOr: "or",
    cst.BitXor: "xor",
    cst.LeftShift: "lshift",
    cst.RightShift: "rshift",
    cst.AddAssign: "add",
    cst.SubtractAssign: "sub",
    cst.MultiplyAssign: "mul",
    cst.DivideAssign: "truediv",
    cst.FloorDivideAssign: "floordiv",
    cst.ModuloAssign: "mod",
    cst.PowerAssign: "pow",
    cst.MatrixMultiplyAssign: "matmul",
    cst.BitAndAssign: "and",
    cst.BitOrAssign: "or",
    cst.BitXorAssign: "xor",
    cst.LeftShiftAssign: "lshift",
    cst.RightShiftAssign: "rshift",
}
"""The names of operators' special methods, without their underscores, by libcst operator type."""

_UNARY: Final[dict[type, str]] = {cst.Minus: "__neg__", cst.Plus: "__pos__", cst.BitInvert: "__invert__"}
"""The special methods of unary operators, by libcst operator type."""

_CONSTANT: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
}
"""The functions that compute operators on constants, by the names in METHODS."""

MAX_CONSTANT: Final = 10**9
"""The absolute value up to which arithmetic on constants is computed; placement does not depend on larger numbers."""


@evaluates(cst.BinaryOperation)
def binary(frame: Frame, node: cst.BinaryOperation) -> Value:
    """Evaluate a binary operation, `left op right`."""
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    method = SPECIAL_METHOD_OF_OPERATOR.get(type(node.operator), "")
    return apply_binary_operator(frame, method, Argument(left, node.left), Argument(right, node.right), node)


def apply_binary_operator(
    frame: Frame, method: str, left: Argument, right: Argument, node: cst.CSTNode, *, in_place: bool = False
) -> Value:
    """Return the value of a binary operator applied to two values; `method` names the operator as in `METHODS`.

    Special methods of the program's own classes are tried first. `in_place` tries the in-place method (`__iadd__`) too.
    """
    a, b = frame.as_single_tensor(without_none(left.value)), frame.as_single_tensor(without_none(right.value))
    computed = _computed_of_results(a, b)
    if computed is not None:
        return computed
    a, b = _as_batch_tensor(frame, a, left.node), _as_batch_tensor(frame, b, right.node)
    names = (f"__i{method}__", f"__{method}__") if in_place else (f"__{method}__",)
    for name in names:
        function = find_special_method(frame, a, name)
        if function is not None:
            return frame.call_function(function, a, Arguments(node, [right]))
    function = find_special_method(frame, b, f"__r{method}__")
    if function is not None:
        return frame.call_function(function, b, Arguments(node, [left]))
    if isinstance(a, ConditionalValue) and _is_computed_apart(frame, a):
        return compute_per_alternative(
            frame, a, lambda one: apply_binary_operator(frame, method, replace(left, value=one), right, node)
        )
    if isinstance(b, ConditionalValue) and _is_computed_apart(frame, b):
        return compute_per_alternative(
            frame, b, lambda one: apply_binary_operator(frame, method, left, replace(right, value=one), node)
        )
    a, b = as_forward_operand(frame, a, b), as_forward_operand(frame, b, a)
    if is_computed_by_numpy(method, a, b):
        return apply_numpy_operator(frame, method, Argument(a, left.node), Argument(b, right.node), node)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return _tensor_operator(frame, method, Argument(a, left.node), Argument(b, right.node), node, in_place=in_place)
    if isinstance(a, Array) or isinstance(b, Array):
        return apply_array_operator(frame, method, Argument(a, left.node), Argument(b, right.node), node)
    if method == "sub" and isinstance(a, Number) and isinstance(b, Number):
        check_clock_difference(frame, a, b, node)
    if isinstance(a, Const) and isinstance(b, Const):
        return _fold_constants(method, a, b)
    if method == "or" and _is_type(a) and _is_type(b):
        return TypeUnion((a, b))
    collection = _combine_collections(frame, method, a, b, node)
    if collection is not None:
        return collection
    if isinstance(a, (Const, Number, SymbolicBool)) and isinstance(b, (Const, Number, SymbolicBool)):
        return Number(_result_kind(method, a, b))
    if isinstance(a, (DeviceType, DeviceString)) and method == "add":
        return concatenated(a, b)
    if isinstance(a, (StringPrefix, Const)) and isinstance(b, (StringPrefix, Const)) and method in ("add", "mod"):
        return StringPrefix(a.prefix if isinstance(a, StringPrefix) else str(a.value) if method == "add" else "")
    return UNKNOWN


def _is_computed_apart(frame: Frame, value: ConditionalValue) -> bool:
    """Return whether an operator is applied to each alternative of a conditional value: number and tensor, or lists."""
    return is_number_or_tensor(value) or all(
        isinstance(_as_collection(frame, one), Sequence) for one in alternatives(value)
    )


def _is_type(value: Value) -> bool:
    """Return whether a value may be an operand of a union of classes, such as `list | None`.

    A name of a library may also be a flag, so a union of two names is used only where classes are asked for.
    """
    match value:
        case LibraryName() | TypeUnion() | Const(value=None) | ProgramDefinition(definition=ClassInfo()):
            return True
    return False


def _as_batch_tensor(frame: Frame, value: Value, node: cst.BaseExpression) -> Value:
    """Return opaque data (of unknown structure, such as a batch) as a tensor operand; other values are unchanged.

    The parts of a checkpoint, or of what a model returns, may be numbers: where the code does not use one as only a
    tensor is used, it becomes an unknown operand.
    """
    if not isinstance(value, OpaqueData):
        return value
    if value.mixed and not (value.of_call and looks_like_tensor(frame, node, array_like=False)):
        return UNKNOWN
    return Tensor(value.placement, pinned=value.pinned)


def _computed_of_results(left: Value, right: Value) -> OpaqueData | None:
    """Return what an operator makes of parts of a model's result, and of numbers beside them: it lies where they lie.

    None for other operands, for parts on two devices, and where a result is surely a tensor.
    """
    sides = [one for one in (left, right) if not isinstance(one, (Const, Number))]
    parts = [one for one in sides if isinstance(one, OpaqueData) and one.of_call and one.mixed]
    if not parts or len(parts) < len(sides) or len({one.placement for one in parts}) > 1:
        return None
    return OpaqueData(parts[0].placement, mixed=True, of_call=True)


def _tensor_operator(
    frame: Frame, method: str, left: Argument, right: Argument, node: cst.CSTNode, *, in_place: bool
) -> Value:
    """Return the value of an operator with a tensor operand.

    The operator's row in devlint's semantics table of torch tells the device and dtype of the result.
    """
    table = frame.analysis.table
    for side in (left, right):
        if not isinstance(side.value, Tensor) and isinstance(side.value, (Ref, Tuple)) and method != "mul":
            return UNKNOWN
    if isinstance(left.value, Tensor):
        row = (table.method(f"__i{method}__") if in_place else None) or table.method(f"__{method}__")
        own, other = left, right
    else:
        row = table.method(f"__r{method}__") or table.method(f"__{method}__")
        own, other = right, left
    if row is None:
        return UNKNOWN
    names = [name for name in row.params if name != "*"]
    bound = {names[0]: [own], names[1] if len(names) > 1 else "other": [other]}
    if isinstance(other.value, Unknown):
        # It may be a number as well as a tensor on any device.
        given = as_tensor(other.value) if other.value.of_host_tensors else None
        bound[names[1] if len(names) > 1 else "other"] = [Argument(given or Number(), other.node)]
        result = apply_bound_row(frame, row, bound, node)
        return _beside_unknown(result, keeps_device=in_place and own is left)
    return apply_bound_row(frame, row, bound, node)


def _beside_unknown(result: Value, *, keeps_device: bool) -> Value:
    """Return the tensor result of an operator whose other operand is unknown, with its dtype set to unknown.

    Its rank becomes unknown too, unless it surely has a dimension. Beside a host tensor that may be 0-dim, the unknown
    operand may decide the device, unless the tensor is changed in place (`keeps_device`). A result that is no tensor is
    returned unchanged.
    """
    if not isinstance(result, Tensor):
        return result
    if result.rank.is_dimensioned:
        return replace(result, dtype=UNKNOWN_DTYPE)
    placement = result.placement
    if not keeps_device:
        placement = map_cases(placement, lambda leaf: UNKNOWN_PLACEMENT if is_host(leaf.device) else leaf)
    return replace(result, placement=placement, dtype=UNKNOWN_DTYPE, rank=Rank.ANY)


def _fold_constants(method: str, left: Const, right: Const) -> Value:
    """Return the value of an operator applied to two constants.

    The value is a constant if it is small, otherwise a number or string of unknown value. It is unknown if Python would
    raise an exception.
    """
    function = _CONSTANT.get(method)
    if function is None:
        return Number()
    try:
        result = function(left.value, right.value)
    except Exception:  # whatever Python raises here, the program would
        return UNKNOWN
    if isinstance(result, str):
        return Const(result) if len(result) < 200 else StringPrefix()
    if isinstance(result, (int, float)):
        return Const(result) if abs(result) < MAX_CONSTANT else Number(type(result).__name__)
    return UNKNOWN


def _result_kind(method: str, left: Value, right: Value) -> str | None:
    """Return the name of the Python type of an operator's result on two numbers (such as "float"); None if unknown."""
    kinds = {_operand_kind(left), _operand_kind(right)}
    if "float" in kinds or method == "truediv":
        return "float" if None not in kinds or "float" in kinds else None
    return "int" if kinds <= {"int", "bool"} else None


def _operand_kind(value: Value) -> str | None:
    """Return the name of the Python type of a number or constant (such as "int"); None if unknown."""
    match value:
        case Number(kind=kind):
            return kind
        case Const(value=constant):
            return type(constant).__name__
        case SymbolicBool():
            return "bool"
    return None


def _combine_collections(frame: Frame, method: str, left: Value, right: Value, node: cst.CSTNode) -> Value | None:
    """Return the value of `+`, `*` or `|` on dicts, lists and tuples; None for other operands."""
    one, other = _as_collection(frame, left), _as_collection(frame, right)
    if method == "or" and isinstance(one, Dict) and isinstance(other, Dict):
        return frame.allocate(node, merge_dicts(one, other))
    if method == "add" and isinstance(one, Sequence) and isinstance(other, Sequence):
        if one.items is not None and other.items is not None:
            return _allocate_result(frame, Sequence((*one.items, *other.items), kind=one.kind), node)
        both = Sequence(None, join(one.any, other.any), one.kind, filled=filled_by_either(one, other))
        return _allocate_result(frame, both, node)
    if method == "mul":
        for thing, times in ((one, right), (other, left)):
            if isinstance(thing, Sequence):
                number = times.value if isinstance(times, Const) else None
                items = thing.items if thing.items is not None and isinstance(number, int) else ()
                if items and isinstance(number, int) and len(items) * number <= MAX_REPEATED:
                    return _allocate_result(frame, replace(thing, items=items * number, owner=None), node)
                filled = thing.has_elements if isinstance(number, int) and number > 0 else None
                return _allocate_result(frame, Sequence(None, thing.any, thing.kind, filled=filled), node)
    return None


def _as_collection(frame: Frame, value: Value) -> object:
    """Return the heap object for a dict or list that a value refers to; for a tuple, one made from the tuple.

    The result is None for any other value.
    """
    if isinstance(value, Tuple):
        return Sequence(value.items, kind="tuple")
    return frame.object_of(value)


def _allocate_result(frame: Frame, thing: Sequence, node: cst.CSTNode) -> Value:
    """Return the list or tuple that an operator such as `+` makes: a tuple value if it is a tuple of known elements.

    Otherwise the result is a reference to a new heap object.
    """
    return Tuple(thing.items) if thing.kind == "tuple" and thing.items is not None else frame.allocate(node, thing)


def augmented(frame: Frame, node: cst.AugAssign) -> Value:
    """Return the value that the target of an augmented assignment (`target += value`) has afterwards."""
    target, value = frame.evaluate(node.target), frame.evaluate(node.value)
    method = SPECIAL_METHOD_OF_OPERATOR.get(type(node.operator), "")
    grow = {"add": extend_in_place, "or": update_in_place}.get(method)
    if grow is not None and isinstance(target, Ref):
        extended = grow(frame, target, value)
        if extended is not None:
            return extended
    for one in alternatives(target):
        report_shared_write(frame, one, node.target, node)
    result = apply_binary_operator(
        frame, method, Argument(target, node.target), Argument(value, node.value), node, in_place=True
    )
    return replace(result, memory=target.memory) if isinstance(target, Array) and isinstance(result, Array) else result


def extend_in_place(frame: Frame, target: Ref, value: Value) -> Value | None:
    """Extend a list in place (`list += more`) and return it; None if the operands are not both sequences."""
    thing = frame.get(target.address)
    more = frame.object_of(value)
    if not isinstance(thing, Sequence) or not isinstance(more, Sequence):
        return None
    if thing.items is not None and more.items is not None and not frame.in_repeated_loop:
        frame.put(target.address, replace(thing, items=(*thing.items, *more.items)))
    else:
        element = join(thing.any, more.any) if thing.items != () else more.any
        filled = filled_by_either(thing, more)
        frame.put(target.address, replace(thing, items=None, element=element, filled=filled, prefix=thing.beginning))
    return target


def update_in_place(frame: Frame, target: Ref, value: Value) -> Value | None:
    """Update a dict in place (`dict |= more`) and return it; None if the operands are not both dicts."""
    thing = frame.get(target.address)
    more = frame.object_of(value)
    if not isinstance(thing, Dict) or not isinstance(more, Dict):
        return None
    frame.put(target.address, merge_dicts(thing, more))
    return target


@evaluates(cst.UnaryOperation)
def unary(frame: Frame, node: cst.UnaryOperation) -> Value:
    """Evaluate `-x`, `+x`, `~x` or `not x`."""
    if isinstance(node.operator, cst.Not):
        return bool_value(negate_condition(condition_of(frame, node.expression)))
    value = frame.evaluate(node.expression)
    function = find_special_method(frame, value, _UNARY.get(type(node.operator), ""))
    if function is not None:
        return frame.call_function(function, value, Arguments(node))
    return _unary_value(frame, value, node)


def _unary_value(frame: Frame, value: Value, node: cst.UnaryOperation) -> Value:
    """Return the value of `-x`, `+x` or `~x` for an operand without a special method of its own."""
    if is_number_or_tensor(value):
        return compute_per_alternative(frame, value, lambda one: _unary_value(frame, one, node))
    match value:
        case Const(value=int() | float() as number) if isinstance(node.operator, (cst.Minus, cst.Plus)):
            return Const(-number if isinstance(node.operator, cst.Minus) else number)
        case Tensor():
            row = frame.analysis.table.method(_UNARY.get(type(node.operator), ""))
            if row is None or isinstance(node.operator, cst.Plus):
                return value
            return apply_bound_row(frame, row, {row.params[0]: [Argument(value, node.expression)]}, node)
        case Array():
            return replace(value, fresh=None)
        case Number():
            return Number(value.kind)
    return UNKNOWN


def bool_value(test: Literal | bool | None) -> Value:
    """Return the abstract bool for a condition: a constant for a bool, a symbolic bool for a literal of the program.

    For None, which means that the condition is unknown, the result is an unknown bool.
    """
    if isinstance(test, bool):
        return Const(test)
    return SymbolicBool(test) if test is not None else Number("bool")


@evaluates(cst.BooleanOperation)
def boolean(frame: Frame, node: cst.BooleanOperation) -> Value:
    """Evaluate `a and b` or `a or b`.

    The value is a condition if both operands are conditions; otherwise it is the join of the operands that it may be.
    """
    is_and = isinstance(node.operator, cst.And)
    left = frame.evaluate(node.left)
    if isinstance(left, (Const, SymbolicBool)) and (not isinstance(left, Const) or isinstance(left.value, bool)):
        test = condition_of(frame, node)
        right_test = frame.conditions.get(node.right)
        if isinstance(test, bool) and node.right not in frame.conditions:
            return Const(test)
        right = frame.evaluate(node.right) if not isinstance(right_test, (bool, Literal)) else bool_value(right_test)
        if isinstance(right, (Const, SymbolicBool)) and not (
            isinstance(right, Const) and not isinstance(right.value, bool)
        ):
            return bool_value(test)
        if isinstance(left, Const):
            return right if bool(left.value) is is_and else left
        return join(right, Const(not is_and)) if isinstance(right, (Number, SymbolicBool)) else UNKNOWN
    known = truth(frame, node.left)
    if known is not None:
        return frame.evaluate(node.right) if known is is_and else left
    values: list[Value] = []

    def second() -> None:
        narrow(frame, node.left, is_and)
        values.append(frame.evaluate(node.right))

    (end,) = frame.branch(second)
    frame.state = join_states(frame.state, end)
    right = values[0] if values else UNKNOWN
    test = frame.conditions[node.left]
    if not isinstance(test, Literal):
        return join(left if is_and else without_none(left), right)
    if isinstance(right, SymbolicBool) or right in (Const(True), Const(False)):
        # A value combined with a condition is treated as a condition too.
        other = right.test if isinstance(right, SymbolicBool) else right == Const(True)
        return bool_value(_connect(test, other, is_and=is_and))
    return join(right, left, test) if is_and else join(without_none(left), right, test)


def _connect(left: Literal, right: Literal | bool, *, is_and: bool) -> Literal | bool:
    """Return the conjunction (`is_and`) or the disjunction of two conditions."""
    if isinstance(right, bool):
        return left if right is is_and else right
    return conjunction(left, right) if is_and else disjunction(left, right)


@evaluates(cst.Comparison)
def comparison(frame: Frame, node: cst.Comparison) -> Value:
    """Evaluate a comparison such as `a < b` or `a.device == b.device`; a chain (`a < b < c`) is an unknown bool."""
    left = Argument(frame.evaluate(node.left), node.left)
    results: list[Value] = []
    for part in node.comparisons:
        right = Argument(frame.evaluate(part.comparator), part.comparator)
        results.append(evaluate_comparison(frame, node, part.operator, left, right))
        left = right
    return results[0] if len(results) == 1 else Number("bool")
