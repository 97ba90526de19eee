"""Handlers of Python's binary, unary and augmented operators on tensors, arrays, numbers, strings and devices."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives, is_number_or_tensor, without_none
from devlint.domain.objects import Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, map_cases
from devlint.domain.record import replace
from devlint.domain.value import (
    NOT_TENSOR,
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
from devlint.interpreter.conditions.abstract_bools import bool_value
from devlint.interpreter.conditions.alternatives import compute_per_alternative
from devlint.interpreter.conditions.narrowing import condition_of, negate_condition, report_host_read
from devlint.interpreter.language.collection_operators import (
    as_collection,
    combine_collections,
    extend_in_place,
    update_in_place,
)
from devlint.interpreter.language.expressions import concatenated
from devlint.interpreter.language.number_operators import combine_bools, fold_constants, result_kind
from devlint.interpreter.numpy.array_calls import apply_array_operator
from devlint.interpreter.numpy.array_history import history_of_operand
from devlint.interpreter.numpy.mixed_operators import apply_numpy_operator, is_computed_by_numpy
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.objects.forward_inputs import as_forward_operand
from devlint.interpreter.operations.aliasing import report_shared_write
from devlint.interpreter.operations.synchronization import check_clock_difference
from devlint.interpreter.operations.table_operations import apply_bound_row
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame, evaluates

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


@evaluates(cst.BinaryOperation)
def binary(frame: Frame, node: cst.BinaryOperation) -> Value:
    """Evaluate a binary operation, `left op right`."""
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    method = SPECIAL_METHOD_OF_OPERATOR.get(type(node.operator), "")
    return apply_binary_operator(frame, method, Argument(left, node.left), Argument(right, node.right), node)


def apply_binary_operator(
    frame: Frame, method: str, left: Argument, right: Argument, node: cst.CSTNode, *, in_place: bool = False
) -> Value:
    """Return the value of a binary operator applied to two values; `method` is one of `SPECIAL_METHOD_OF_OPERATOR`.

    Special methods of the program's own classes are tried first. `in_place` tries the in-place method (`__iadd__`) too.
    """
    for side, other in ((left, right), (right, left)):
        if isinstance(other.value, (Const, Number, SymbolicBool)) and NOT_TENSOR in alternatives(side.value):
            # What is combined with a number may be a number itself.
            return UNKNOWN
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
    if method == "mod" and _is_text(a) and not isinstance(b, Const):
        _read_formatted(frame, Argument(b, right.node))
        return StringPrefix()
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
        return fold_constants(method, a, b)
    if method == "or" and _is_type(a) and _is_type(b):
        return TypeUnion((a, b))
    collection = combine_collections(frame, method, a, b, node)
    if collection is not None:
        return collection
    if isinstance(a, (Const, Number, SymbolicBool)) and isinstance(b, (Const, Number, SymbolicBool)):
        return combine_bools(method, a, b) or Number(result_kind(method, a, b))
    if isinstance(a, (DeviceType, DeviceString)) and method == "add":
        return concatenated(a, b)
    if isinstance(a, (StringPrefix, Const)) and isinstance(b, (StringPrefix, Const)) and method in ("add", "mod"):
        return StringPrefix(a.prefix if isinstance(a, StringPrefix) else str(a.value) if method == "add" else "")
    return UNKNOWN


def _is_text(value: Value) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, StringPrefix) or (isinstance(value, Const) and isinstance(value.value, str))


def _read_formatted(frame: Frame, values: Argument) -> None:
    """Report that the host reads the tensors that a text shows: those on the right of `"%.3f" % (loss, number)`."""
    match values.value, values.node:
        case Tuple(items=items), cst.Tuple(elements=elements) if len(items) == len(elements):
            for item, element in zip(items, elements, strict=True):
                report_host_read(frame, item, element.value, "format()")
        case value, node:
            report_host_read(frame, value, node, "format()")


def _is_computed_apart(frame: Frame, value: ConditionalValue) -> bool:
    """Return whether an operator is applied to each alternative of a conditional value: number and tensor, or lists."""
    return is_number_or_tensor(value) or all(
        isinstance(as_collection(frame, one), Sequence) for one in alternatives(value)
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
    tensor is used, it becomes an unknown operand. What a transfer has returned is no number, and as an operand no
    module.
    """
    if not isinstance(value, OpaqueData):
        return value
    if value.mixed and value.moved is None and not (value.of_call and looks_like_tensor(frame, node, array_like=False)):
        return UNKNOWN
    return Tensor(value.placement, value.dtype, pinned=value.pinned)


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
    if method == "sub" and any(isinstance(one.value, Tensor) and _is_bool(frame, one.value) for one in (left, right)):
        # Torch subtracts no bool tensor, whatever stands on the other side.
        frame.fail()
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


def _is_bool(frame: Frame, tensor: Tensor) -> bool:
    """Return whether a tensor is known to be one of bools."""
    return frame.resolve(tensor).dtype.name == "bool"


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
    if _outgrows(target, value):
        frame.fail()
        return UNKNOWN
    result = apply_binary_operator(
        frame, method, Argument(target, node.target), Argument(value, node.value), node, in_place=True
    )
    if isinstance(target, ConditionalValue) and all(
        isinstance(one, Tensor) and one.cell is not None for one in alternatives(target)
    ):
        # Whichever parameter it is, it stays that parameter, on its device and in its dtype.
        return target
    if not isinstance(result, Array):
        return result
    if isinstance(target, Unknown):
        # An array keeps its dtype, and a number does not: the target may be either.
        return replace(result, dtype=UNKNOWN_DTYPE)
    return _changed_array(target, result) if isinstance(target, Array) else result


def _outgrows(target: Value, value: Value) -> bool:
    """Return whether a tensor surely has fewer dimensions than the one that is to be added to it in place."""
    if not isinstance(target, Tensor) or not isinstance(value, Tensor):
        return False
    number = target.rank.number
    return number is not None and value.rank.least > number


def _changed_array(target: Array, result: Array) -> Array:
    """Return an array after an augmented assignment, which keeps its dtype; a NumPy number becomes another number."""
    if target.rank.is_dimensioned:
        return replace(result, dtype=target.dtype, memory=target.memory)
    known = target.rank is Rank.ZERO or target.dtype == result.dtype
    return replace(result, dtype=result.dtype if known else UNKNOWN_DTYPE, memory=target.memory)


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
            before = history_of_operand(frame, value, node.expression, node)
            return replace(value, fresh=None, provenance=before)
        case Number():
            return Number(value.kind)
    return UNKNOWN
