"""Fixes that bring an operand to another device: in the factory call that creates it, or by a transfer."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place, Step, StepKind
from devlint.explain.conflict_texts import device_source
from devlint.explain.place_texts import shortened
from devlint.fixes.call_edits import find_argument, set_argument
from devlint.fixes.edits import append_call, replace_node, text_with_call
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix
from devlint.fixes.import_edits import full_name
from devlint.fixes.name_queries import binds_same_variable, is_read_elsewhere
from devlint.fixes.statement_edits import enclosing_statement, insert_lines_before
from devlint.fixes.tensor_device_text import device_at_conflict, find_device_expression, is_repeatable
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.tree_walk import descend, names_in_target

FACTORIES_WITHOUT_DEVICE: Final = frozenset(
    "from_numpy frombuffer from_dlpack Tensor FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor"
    " CharTensor ByteTensor BoolTensor sample rsample sample_n".split()
)
"""Factories of host tensors that take no `device` argument."""

RANDOM_FACTORIES: Final = frozenset(
    "rand randn randint randperm normal bernoulli poisson multinomial sample rsample sample_n".split()
)
"""Random factories, which return other numbers on each type of device."""


def create_on_device(context: FixContext, created: Step, device: str, use: Place) -> Fix:
    """Return a fix that passes a device to the factory call that creates a tensor.

    `created` is the step of the tensor's history with the factory call, and `use` the source location where the tensor
    is used. The fix is safe when nothing but `use` reads the tensor, and its elements do not depend on the device. A
    factory that takes no device, or draws from a generator of its own device, keeps its arguments, and a transfer is
    appended to the call.
    """
    call = created.place.node
    region = context.region_at(created.place)
    if created.kind is not StepKind.CREATED or not isinstance(call, cst.Call):
        raise NoFix
    name = full_name(region, call.func)
    if not name.startswith("torch."):
        raise NoFix
    factory = name.rpartition(".")[2]
    if find_argument(call, "device") is None and (
        factory in FACTORIES_WITHOUT_DEVICE or find_argument(call, "generator") is not None
    ):
        edits = append_call(region, call, f".to({device})")
        message = f"Add `.to({device})` to `{shortened(region.code(call))}`"
    else:
        edits = (set_argument(region, call, "device", device),)
        message = f"Pass `device={device}` to `{shortened(region.code(call.func))}`"
    safe = factory not in RANDOM_FACTORIES and factory[:1].islower() and _is_only_use(region, call, use)
    return Fix(message, Applicability.SAFE if safe else Applicability.UNSAFE, edits)


def _is_only_use(region: NodeRegion, call: cst.Call, use: Place) -> bool:
    """Return whether the tensor that a factory call creates is used at the source location `use` and nowhere else.

    There is either the factory call itself, or the only read of the variable to which the tensor is assigned.
    """
    if use.node is call:
        return True
    function = region.enclosing_function(call)
    assignment = region.parent(call)
    if function is None or not isinstance(use.node, cst.Name) or not isinstance(assignment, cst.Assign):
        return False
    names = [name for target in assignment.targets for name in names_in_target(target.target)]
    return names == [use.node.value] and not is_read_elsewhere(region, use.node)


def insert_transfer(region: NodeRegion, node: cst.CSTNode, suffix: str) -> tuple[str, tuple[Edit, ...]]:
    """Return the message and the edits of a fix that appends a method call, such as a transfer, where a tensor is used.

    If a variable holds the tensor and is read again, the edits insert a statement before the use that assigns the moved
    tensor to the variable. Raises NoFix for a tensor that is written to in place.
    """
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    if is_repeatable(node) and _can_be_rebound(region, node) and _is_read_again(region, node):
        name = region.code(node)
        return f"Insert `{name} = {shortened(name)}{suffix}` before this", (
            insert_lines_before(region, node, f"{name} = {name}{suffix}"),
        )
    if _is_changed_in_place(region, node):
        raise NoFix
    return f"Write `{shortened(text_with_call(region, node, suffix))}`", append_call(region, node, suffix)


def create_on_device_of(
    context: FixContext, event: DeviceConflict, misplaced_operand: Operand, other: Operand
) -> Fix | None:
    """Return a fix for a device conflict that creates the operand `misplaced_operand` on the device of `other`.

    Returns None if no factory call creates the operand, or if no expression at that call denotes the device. The fix is
    unsafe when the device is a literal and another function put `other` on its device: that function may choose another
    device at its next call.
    """
    creation = misplaced_operand.case.placing_step
    if creation is None or creation.kind is not StepKind.CREATED:
        return None
    device = find_device_expression(creation.device_expressions, other.tensor.placement)
    if device is None and creation.place == misplaced_operand.place:
        device = device_at_conflict(event, other)
    if device is None:
        written = device_source(event, other)
        device = written if written is not None and written[0] in "'\"" else None
    if device is None:
        return None
    # Another function that placed the other tensor may place it elsewhere at its next call.
    is_reliable = device[0] not in "'\"" or (
        other.case.placing_step is not None and other.case.placing_step.scope is event.context.scope
    )
    try:
        fix = create_on_device(context, creation, device, misplaced_operand.place)
    except NoFix:
        return None
    return fix if is_reliable else with_fields(fix, applicability=Applicability.UNSAFE)


def move_misplaced(context: FixContext, event: DeviceConflict) -> Fix:
    """Return a fix for a device conflict that brings the misplaced operand to the other operand's device.

    The misplaced operand is the one that should be moved. If possible, the factory call that makes this operand creates
    it there; otherwise a transfer is inserted where the operation uses it.
    """
    creation_fix = create_on_device_of(context, event, event.misplaced, event.reference)
    return creation_fix if creation_fix is not None else move_misplaced_at_use(context, event)


def move_misplaced_at_use(context: FixContext, event: DeviceConflict) -> Fix:
    """Return a fix for a device conflict that moves the misplaced operand to the other operand's device.

    The misplaced operand is the one that should be moved. The transfer is inserted where the operation uses it.
    """
    misplaced_operand, other = event.misplaced, event.reference
    region = context.region_at(misplaced_operand.place)
    node = operand_expression(region, misplaced_operand)
    if misplaced_operand.of_module:
        raise NoFix
    if misplaced_operand.inside and other.inside and event.operation.startswith("torch._foreach_"):
        others = region.code(operand_expression(region, other))
        pairs = f"[one.to(other.device) for one, other in zip({region.code(node)}, {others})]"
        return Fix("Move each to its partner", Applicability.UNSAFE, (replace_node(region, node, pairs),))
    suffix = f".to({device_at_conflict(event, other)}{non_blocking_argument(misplaced_operand)})"
    if misplaced_operand.inside:
        return Fix(
            "Move each of them", Applicability.UNSAFE, (replace_node(region, node, map_elements(region, node, suffix)),)
        )
    message, edits = insert_transfer(region, node, suffix)
    return Fix(message, Applicability.UNSAFE, edits)


def is_moved_by_chain(region: NodeRegion, node: object) -> bool:
    """Return whether the methods called on an expression include a transfer: `x[i].view(3).to(device)` for `x[i]`."""
    above = region.parent(node) if isinstance(node, cst.BaseExpression) else None
    while isinstance(above, (cst.Attribute, cst.Call)):
        if isinstance(above, cst.Attribute) and above.attr.value in ("to", "cuda", "type_as"):
            return True
        above = region.parent(above)
    return False


def non_blocking_argument(operand: Operand) -> str:
    """Return `, non_blocking=True`, an argument to add to a transfer, if an operand is in pinned memory.

    Otherwise no text. The host need not wait for a copy from pinned memory.
    """
    return ", non_blocking=True" if operand.tensor.pinned else ""


def map_elements(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> str:
    """Return the source text of a list in which a method is called on each element of a container expression."""
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        start, _ = region.span(node.for_in)
        end = region.span(node)[1] - (1 if isinstance(node, cst.ListComp) or node.lpar else 0)
        return f"[{text_with_call(region, node.elt, suffix)} {region.context.text[start:end]}]"
    return f"[one{suffix} for one in {region.code(node)}]"


def operand_expression(region: NodeRegion, operand: Operand) -> cst.BaseExpression:
    """Return the expression of an operand of an operation.

    For the value in an assignment to an entry, `x[i] = value`, it is the right-hand side.
    """
    node = operand.place.node
    above = region.parent(node) if isinstance(node, cst.CSTNode) else None
    statement = region.parent(above) if isinstance(above, cst.AssignTarget) else None
    if operand.name == "value" and isinstance(statement, cst.Assign):
        return statement.value
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    return node


def _can_be_rebound(region: NodeRegion, node: cst.BaseExpression) -> bool:
    """Return whether an assignment inserted before a statement can change what the statement reads from a variable.

    It cannot where a comprehension or another scope binds the name of the variable.
    """
    try:
        statement = enclosing_statement(region, node)
    except NoFix:
        return False
    names = {one.value for one in (node, *descend(node)) if isinstance(one, cst.Name)}
    inner = (above for above in region.ancestors(node) if isinstance(above, cst.BaseComp))
    if any(names & set(names_in_target(comp.for_in.target)) for comp in inner):
        return False
    return not isinstance(node, cst.Name) or binds_same_variable(region, statement, node.value)


def _is_read_again(region: NodeRegion, node: cst.BaseExpression) -> bool:
    """Return whether a variable, attribute or entry is also read elsewhere in the function.

    Attributes and entries are compared by their source text.
    """
    if isinstance(node, cst.Name):
        return is_read_elsewhere(region, node)
    function = region.enclosing_function(node)
    return function is not None and sum(one.deep_equals(node) for one in descend(function.body)) > 1


def _is_changed_in_place(region: NodeRegion, node: cst.BaseExpression) -> bool:
    """Return whether code writes in place to an expression's tensor, so that a moved copy would lose the change."""
    above = region.parent(node)
    match above:
        case cst.AugAssign(target=target) if target is node:
            return True
        case cst.Attribute(attr=cst.Name(value=name)) if name.endswith("_") and not name.endswith("__"):
            return isinstance(region.parent(above), cst.Call)
        case cst.Subscript(value=value) if value is node:
            outer = region.parent(above)
            return isinstance(outer, (cst.AssignTarget, cst.AugAssign))
    return isinstance(above, cst.AssignTarget) or not is_value_expression(node)


def is_value_expression(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a name, attribute, entry, call, operation or comparison, whose value is read.

    Starred expressions and the clauses of comprehensions, for example, are not.
    """
    return is_repeatable(node) or isinstance(node, (cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Comparison))
