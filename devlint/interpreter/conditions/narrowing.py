"""Conditions of branches: the truth of an expression, and the narrowing of values where it holds or fails."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Final

import libcst as cst

from devlint.domain.device import DeviceSymbol, is_accelerator, is_host
from devlint.domain.join import alternatives, join, without_none
from devlint.domain.path_conditions import Atom, Literal, conditional, conjunction, disjunction, entails
from devlint.domain.placement import Basis, PlacementCase, StepKind, placement_cases
from devlint.domain.questions import Question
from devlint.domain.tensorless_types import has_no_tensors
from devlint.domain.value import (
    NONE,
    NOT_TENSOR,
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    DeviceValue,
    DtypeValue,
    LibraryName,
    Number,
    OpaqueData,
    ProgramDefinition,
    Ref,
    SymbolicBool,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.conditions.attribute_checks import restrict_to_having
from devlint.interpreter.conditions.class_comparisons import restrict_to_class
from devlint.interpreter.conditions.condition_texts import ConditionText, SourceText
from devlint.interpreter.conditions.constant_comparisons import restrict_to_comparison
from devlint.interpreter.conditions.instance_checks import NDARRAY, PARAMETER, TENSOR, restrict_to_type
from devlint.interpreter.conditions.length_comparisons import filled_condition_of, is_dimension
from devlint.interpreter.conditions.rank_comparisons import narrow_rank
from devlint.interpreter.objects.sequence_lengths import filled_condition
from devlint.interpreter.operations.synchronization import unfinished_copy
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.device_facts import device_type_atom
from devlint.interpreter.state.events import HostRead
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.rebinding import held_value, rebind


def condition_of(frame: Frame, node: cst.BaseExpression) -> Literal | bool | None:
    """Return the condition that a test expression is true.

    The condition is a bool if the path decides the test, otherwise a literal of the path condition (a formula or its
    negation) that holds exactly where the test is true; None if no formula expresses the test.
    """
    answer = _test_of(frame, node)
    if isinstance(answer, Literal):
        known = entails(frame.state.path_condition, answer)
        answer = answer if known is None else known
    frame.conditions[node] = answer
    return answer


COMPOUND_CONDITIONS: Final = frozenset({cst.UnaryOperation, cst.BooleanOperation, cst.NamedExpr})
"""The node types of conditions that contain conditions.

The check by exact type spares most nodes the slower structural match in `_test_of`.
"""


def _test_of(frame: Frame, node: cst.BaseExpression) -> Literal | bool | None:
    """Return the condition that an expression is true, before the path condition is asked whether it decides it."""
    if type(node) not in COMPOUND_CONDITIONS:
        return truth_condition(frame, frame.evaluate(node), node)
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return negate_condition(condition_of(frame, inner))
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            return _connective(frame, left, right, is_and=isinstance(operator, cst.And))
        case cst.NamedExpr(value=value):
            answer = truth_condition(frame, frame.evaluate(node), node)
            frame.conditions[value] = answer
            return answer
    return truth_condition(frame, frame.evaluate(node), node)


def negate_condition(test: Literal | bool | None) -> Literal | bool | None:
    """Return the negation of a condition: of a bool or a literal; None, for an unknown condition, stays None."""
    return ~test if isinstance(test, Literal) else (None if test is None else not test)


def _connective(
    frame: Frame, left: cst.BaseExpression, right: cst.BaseExpression, *, is_and: bool
) -> Literal | bool | None:
    """Return the condition of `left and right` or `left or right`.

    The right operand is evaluated on the path that reaches it.
    """
    first = condition_of(frame, left)
    if isinstance(first, bool) and first is not is_and:
        return first
    answers: list[Literal | bool | None] = []

    def second() -> None:
        narrow(frame, left, is_and)
        answers.append(condition_of(frame, right) if frame.state.live else is_and)

    (end,) = frame.branch(second)
    # The right operand's narrowing holds only where the operand is evaluated; its new names and objects are kept.
    frame.state.names = {**end.names, **frame.state.names}
    frame.state.heap.adopt(end.heap)
    frame.state.torch_state = end.torch_state
    other = answers[0] if answers else is_and
    if isinstance(first, bool):
        return other
    if isinstance(other, bool):
        return first if other is is_and else other
    if first is None or other is None:
        return None
    return conjunction(first, other) if is_and else disjunction(first, other)


def truth_condition(frame: Frame, value: Value, node: cst.BaseExpression) -> Literal | bool | None:
    """Return the condition that a value is true; reading the truth of a tensor is reported as a read by the host."""
    match value:
        case Const(value=constant):
            return bool(constant)
        case SymbolicBool(test=test):
            return test
        case Tuple(items=items):
            return bool(items)
        case DeviceValue() | DtypeValue() | ProgramDefinition() | LibraryName() | BoundLibraryMethod():
            return True
        case Ref():
            filled = filled_condition(
                frame, value, Atom(("filled", *frame.site_key(node)), SourceText(frame.place(node), node))
            )
            if filled is not None:
                return filled
        case Number() if (filled := filled_condition_of(value)) is not None:
            return filled
        case Unknown(origin=("attr", owner, ("is_cuda" | "is_cpu" | "is_mps" | "is_xpu") as name)):
            return Literal(device_type_atom(owner, name.removeprefix("is_"), SourceText(frame.place(node), node)))
        case Number(kind="int", origin=None) if is_dimension(node):
            return Literal(Atom(("filled", *frame.site_key(node)), SourceText(frame.place(node), node, " > 0")))
        case Unknown(origin=origin) | Number(origin=origin) if origin is not None:
            return _asked(("true", origin), SourceText(frame.place(node), node), Question(origin, "true"))
        case Tensor() | Array():
            report_host_read(frame, value, node, "bool()")
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            one, other = truth_condition(frame, yes, node), truth_condition(frame, no, node)
            if one is not None and other is not None and (isinstance(one, bool) or isinstance(other, bool)):
                return conditional(test, one, other)
    return Literal(Atom(frame.site_key(node), SourceText(frame.place(node), node)))


def _asked(key: Hashable, text: ConditionText, question: Question) -> Literal:
    """Return the condition that the answer to a question about one value is yes."""
    return Literal(Atom(key, text, question=question))


def report_host_read(frame: Frame, value: Value, node: cst.BaseExpression, narrowing: str) -> None:
    """Report to the rules that the host reads a tensor's values, as `.item()` or `print(tensor)` does.

    If the tensor may be on an accelerator, the host is recorded to wait for the accelerator.
    """
    tensor = as_tensor(value) if isinstance(value, Tensor) else None
    if tensor is None:
        return
    tensor = frame.resolve(tensor)
    frame.emit(
        HostRead(
            frame.event_context(node), narrowing, tensor, frame.place(node), unfinished=unfinished_copy(frame, tensor)
        )
    )
    if not is_on_host(tensor):
        waits = any(is_accelerator(leaf.device) for _, leaf in placement_cases(tensor.placement))
        step = frame.step(StepKind.PASSED, f"`{narrowing}` waits for the accelerator", node) if waits else None
        frame.synchronize(step)


def is_on_host(tensor: Tensor) -> bool:
    """Return whether a tensor is surely on the host, so that reading its values does not wait for an accelerator."""
    return all(is_host(leaf.device) for _, leaf in placement_cases(tensor.placement))


def may_be_none(value: Value) -> bool | None:
    """Return whether a value is None: True if it surely is, False if it surely is not; None means unknown."""
    match value:
        case Const(value=constant):
            return constant is None
        case Unknown(origin=("option", _, _, Const(value=default), True)) if default is not None:
            return False  # Left out, it has its default.
        case Unknown() | OpaqueData(of_loader=True):
            return None  # A part of a batch may be missing.
        case Tensor(
            placement=PlacementCase(device=DeviceSymbol(origin=("param", FunctionInfo(), _)), basis=Basis.CALLER),
            cell=None,
        ):
            return None
        case ConditionalValue():
            answers = {may_be_none(one) for one in alternatives(value)}
            return answers.pop() if len(answers) == 1 else None
    return False


def none_condition(frame: Frame, value: Value, node: cst.BaseExpression) -> Literal | bool:
    """Return the condition `value is None`, as a bool or a literal; None if it is neither."""
    known = may_be_none(value)
    if known is not None:
        return known
    match value:
        case Unknown(origin=origin) if origin is not None:
            return _asked(("none", origin), SourceText(frame.place(node), node, " is None"), Question(origin, "Is"))
        case Tensor(placement=PlacementCase(device=DeviceSymbol(origin=origin))):
            return _asked(("none", origin), SourceText(frame.place(node), node, " is None"), Question(origin, "Is"))
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            answers = _is_none_where(yes, test), _is_none_where(no, ~test)
            if answers == (True, False):
                return test
            if answers == (False, True):
                return ~test
    there = all(isinstance(one, (Tensor, Ref)) for one in alternatives(value) if one != NONE)
    return Literal(
        Atom(("given" if there else "none", *frame.site_key(node)), SourceText(frame.place(node), node, " is None"))
    )


def _is_none_where(value: Value, test: Literal) -> bool | None:
    """Return whether a value is None where a test holds, which may have asked just that; None means unknown."""
    match value, test.formula:
        case Unknown(origin=origin), Atom(key=key) if origin is not None and key == ("none", origin):
            return test.holds
    return may_be_none(value)


IDENTITY: Final = frozenset({cst.Is, cst.IsNot})
"""The libcst types of the operators `is` and `is not`."""

_CLASS_COMPARISONS: Final[dict[type, bool]] = {cst.Equal: True, cst.NotEqual: False, cst.Is: True, cst.IsNot: False}
"""The operators that compare the class of a value, as in `type(x) == T`, and whether they ask for the same one."""

CONSTANT_NODES: Final = frozenset({cst.Integer, cst.Float, cst.SimpleString, cst.UnaryOperation, cst.Name})
"""The node types of expressions that may be constants; comparisons with other nodes narrow nothing."""


def narrow(frame: Frame, node: cst.BaseExpression, holds: bool) -> None:
    """Narrow the current state to the path on which a test expression holds, or on which it fails.

    The literal joins the path condition, and the tested names get narrower values. `condition_of` must have evaluated
    the expression before.
    """
    test = frame.conditions.get(node)
    if isinstance(test, bool):
        if test is not holds:
            frame.state.live = False
            return
    elif test is not None:
        frame.state.assume(test if holds else ~test)
    narrowing = _NARROWING.get(type(node))
    if narrowing is not None:
        narrowing(frame, node, holds)


def _narrow_not(frame: Frame, node: cst.UnaryOperation, holds: bool) -> None:
    """Narrow by `not x`: where it holds, `x` fails, and where it fails, `x` holds."""
    if isinstance(node.operator, cst.Not):
        narrow(frame, node.expression, not holds)


def _narrow_operands(frame: Frame, node: cst.BooleanOperation, holds: bool) -> None:
    """Narrow by both operands of an `and` that holds, or of an `or` that fails."""
    if isinstance(node.operator, cst.And) is holds:
        narrow(frame, node.left, holds)
        if node.right in frame.conditions:
            narrow(frame, node.right, holds)


def _narrow_compared(frame: Frame, node: cst.Comparison, holds: bool) -> None:
    """Narrow the left operand of a test that compares it with None or with a constant."""
    if len(node.comparisons) > 1:
        return
    operator, comparator = node.comparisons[0].operator, node.comparisons[0].comparator
    if type(node.left) is cst.Call and type(comparator) is not cst.Integer:
        same = _CLASS_COMPARISONS.get(type(operator))
        if same is not None:
            _narrow_class(frame, node.left, frame.evaluate(comparator), same is holds)
        return
    if type(operator) in IDENTITY and type(comparator) is cst.Name and comparator.value == "None":
        _narrow_none(frame, node.left, (type(operator) is cst.Is) is holds)
    else:
        _narrow_alternatives(frame, node.left, operator, comparator, holds)
        if type(comparator) is cst.Integer:
            narrow_rank(frame, node.left, operator, frame.evaluate(comparator), holds)


def _narrow_class(frame: Frame, node: cst.Call, cls: Value, same: bool) -> None:
    """Narrow the argument `x` of a test `type(x) == T` to values of the class `T`, or to values of other classes."""
    match node:
        case cst.Call(func=cst.Name(value="type"), args=[cst.Arg(value=cst.Name() | cst.Attribute() as tested)]):
            value = held_value(frame, tested)
            kept = restrict_to_class(frame, value, cls, same) if value is not None else None
            if value is not None and kept is not None:
                rebind(frame, tested, value, kept)
            if same:
                _narrow_type(frame, tested, cls, holds=True)


def _narrow_call(frame: Frame, node: cst.Call, holds: bool) -> None:
    """Narrow the argument `x` of a test `isinstance(x, T)`, `hasattr(x, "name")` or `torch.is_tensor(x)`."""
    match node:
        case cst.Call(
            func=cst.Name(value="hasattr"),
            args=[cst.Arg(value=cst.Name() | cst.Attribute() as tested), cst.Arg(value=cst.SimpleString() as name)],
        ):
            _narrow_having(frame, tested, str(name.evaluated_value), holds)
        case cst.Call(func=cst.Name(value="isinstance"), args=[first, second]):
            _narrow_type(frame, first.value, frame.evaluate(second.value), holds)
        case cst.Call(func=(cst.Name() | cst.Attribute()) as function, args=[first]) if _is_tensor_check(
            frame, function
        ):
            _narrow_type(frame, first.value, TENSOR, holds)


def _narrow_having(frame: Frame, node: cst.Name | cst.Attribute, name: str, holds: bool) -> None:
    """Narrow the value of a name or attribute to the alternatives that may have an attribute, or that may lack it."""
    value = held_value(frame, node)
    kept = restrict_to_having(frame, value, name, holds) if isinstance(value, ConditionalValue) else None
    if value is not None and kept is not None:
        rebind(frame, node, value, kept)


def _narrow_true(frame: Frame, node: cst.Name | cst.Attribute, holds: bool) -> None:
    """Narrow the value of a name or attribute that is tested by `if name:`; where it is true, it is not None."""
    value = held_value(frame, node) if holds else None
    if value is not None:
        rebind(frame, node, value, without_none(value))


_NARROWING: Final[dict[type, Callable[[Frame, Any, bool], None]]] = {
    cst.Name: _narrow_true,
    cst.Attribute: _narrow_true,
    cst.Comparison: _narrow_compared,
    cst.Call: _narrow_call,
    cst.UnaryOperation: _narrow_not,
    cst.BooleanOperation: _narrow_operands,
}
"""The functions that narrow names by a condition, by the condition's node type."""


def _narrow_none(frame: Frame, node: cst.BaseExpression, is_none: bool) -> None:
    """Narrow the value of a name or attribute to None, or to its alternatives other than None."""
    value = held_value(frame, node)
    if value is not None:
        rebind(frame, node, value, NONE if is_none else without_none(value))
    elif is_none:
        _narrow_part_to_none(frame, node)


def _narrow_part_to_none(frame: Frame, node: cst.BaseExpression) -> None:
    """Narrow a part of data of unknown structure, as `batch["mask"]`, to None: the data has no such part."""
    match node:
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            batch, key = held_value(frame, owner), frame.evaluate(index)
            if isinstance(batch, OpaqueData) and isinstance(key, Const):
                others = tuple(part for part in batch.parts if part[0] != key.value)
                rebind(frame, owner, batch, replace(batch, parts=(*others, (key.value, NONE))))


def _narrow_alternatives(
    frame: Frame, node: cst.BaseExpression, operator: cst.BaseCompOp, comparator: cst.BaseExpression, holds: bool
) -> None:
    """Narrow a conditional value to the alternatives for which a comparison with a constant may hold, or may fail."""
    value = held_value(frame, node)
    if not isinstance(value, ConditionalValue) or type(comparator) not in CONSTANT_NODES:
        return
    constant = frame.evaluate(comparator)
    kept = restrict_to_comparison(value, operator, constant, holds=holds) if isinstance(constant, Const) else None
    if kept is not None:
        rebind(frame, node, value, kept)


def _is_tensor_check(frame: Frame, function: cst.Name | cst.Attribute) -> bool:
    """Return whether the callee of a call is the function `torch.is_tensor`."""
    name = function.value if isinstance(function, cst.Name) else function.attr.value
    return name == "is_tensor" and frame.evaluate(function) == LibraryName("torch.is_tensor")


def _narrow_type(frame: Frame, node: cst.BaseExpression, type_: Value, holds: bool) -> None:
    """Narrow the value of a name or attribute to instances of a type, or to values that are not instances of it."""
    value = held_value(frame, node)
    kept = restrict_to_type(frame, value, type_, holds) if value is not None else None
    if value is None or kept is None:
        return
    if type_ in (TENSOR, PARAMETER) and holds:
        kept = as_tensor(kept) or kept
    elif holds:
        kept = _as_tensorless(kept, type_)
    elif type_ == TENSOR:
        kept = _without_tensors(kept)
    rebind(frame, node, value, kept)


def _as_tensorless(value: Value, type_: Value) -> Value:
    """Return a value of unknown type narrowed to instances of a type of which no tensor is one.

    An unknown value keeps its name in the program unless it is an array, since its attributes may be tensors.
    """
    if type_ == NDARRAY:
        return Array() if isinstance(value, (Unknown, OpaqueData)) else value
    if isinstance(value, OpaqueData) and isinstance(type_, LibraryName) and has_no_tensors(type_.name):
        return NOT_TENSOR
    return value


def _without_tensors(value: Value) -> Value:
    """Return a value narrowed to what is no tensor, for the path on which a tensor check has failed.

    Alternatives that are tensors or may be (unknown values, data of unknown structure) are replaced by NOT_TENSOR.
    """
    match value:
        case Tensor() | Unknown() | OpaqueData():
            return NOT_TENSOR
        case ConditionalValue(test=test, yes=yes, no=no):
            yes, no = _without_tensors(yes), _without_tensors(no)
            return join(yes, no, test)
    return value
