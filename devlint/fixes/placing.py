"""Puts a tensor where it is wanted: by the factory that makes it, or by a transfer before its use."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place, Step, StepKind
from devlint.explain.conflict_stories import device_source_of
from devlint.fixes.calls import find_argument, set_argument
from devlint.fixes.devices import device_at_meeting, is_plain, worded
from devlint.fixes.edits import method, method_text, replace
from devlint.fixes.imports import full_name
from devlint.fixes.names import is_bound_here, is_read_again
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix
from devlint.fixes.statements import put_before, statement_of
from devlint.interpreter.program.definitions import names_in_target
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.tree_walk import descend

DEVICELESS: Final = frozenset(
    "from_numpy frombuffer from_dlpack Tensor FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor"
    " CharTensor ByteTensor BoolTensor sample rsample sample_n".split()
)
"""Makers of host tensors that take no device."""

RANDOM: Final = frozenset(
    "rand randn randint randperm normal bernoulli poisson multinomial sample rsample sample_n".split()
)
"""Makers of other numbers on each kind of device."""


def create_at(sheet: FixContext, created: Step, device: str, use: Place) -> Fix:
    """The factory of a tensor is given a device. Safe where nothing but `use` can tell the difference.

    A factory that takes none, or draws from a generator that is on some device, is left to make its tensor there.
    """
    call = created.place.node
    part = sheet.part(created.place)
    if created.kind is not StepKind.CREATED or not isinstance(call, cst.Call):
        raise NoFix
    name = full_name(part, call.func)
    if not name.startswith("torch."):
        raise NoFix
    factory = name.rpartition(".")[2]
    if find_argument(call, "device") is None and (
        factory in DEVICELESS or find_argument(call, "generator") is not None
    ):
        edits = method(part, call, f".to({device})")
        message = f"Move it to `{device}` as soon as it is made"
    else:
        edits = (set_argument(part, call, "device", device),)
        message = f"Make it on `{device}`"
    safe = factory not in RANDOM and factory[:1].islower() and _is_only_use(part, call, use)
    return Fix(message, Applicability.SAFE if safe else Applicability.UNSAFE, edits)


def _is_only_use(part: NodeRegion, call: cst.Call, use: Place) -> bool:
    """Whether what a factory makes goes to one place: it is made there, or a name brings it."""
    if use.node is call:
        return True
    function = part.function(call)
    assignment = part.parent(call)
    if function is None or not isinstance(use.node, cst.Name) or not isinstance(assignment, cst.Assign):
        return False
    names = [name for target in assignment.targets for name in names_in_target(target.target)]
    return names == [use.node.value] and not is_read_again(part, use.node)


def transfer(part: NodeRegion, node: cst.CSTNode, suffix: str) -> tuple[str, tuple[Edit, ...]]:
    """A tensor is moved by a method where it is used; or, for a variable that is read again, by a statement before.

    Returns what was done, and the edits.
    """
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    if is_plain(node) and _can_be_rebound(part, node) and _is_read_again(part, node):
        name = part.code(node)
        return f"Move `{name}` before it is used", (put_before(part, node, f"{name} = {name}{suffix}"),)
    if _is_changed_in_place(part, node):
        raise NoFix
    return f"Move it with `{suffix}`", method(part, node, suffix)


def bring(sheet: FixContext, event: DeviceConflict, strange: Operand, other: Operand) -> Fix | None:
    """An operand is made where the other lies, if that can be said where it is made."""
    made = strange.leaf.placing_step
    if made is None or made.kind is not StepKind.CREATED:
        return None
    device = worded(made.wordings, other.tensor.placement)
    if device is None and made.place == strange.place:
        device = device_at_meeting(event, other)
    if device is None:
        written = device_source_of(event, other)
        device = written if written is not None and written[0] in "'\"" else None
    if device is None:
        return None
    # Where another function has put the other tensor there, it may put it elsewhere next time.
    trusted = device[0] not in "'\"" or (
        other.leaf.placing_step is not None and other.leaf.placing_step.scope is event.context.scope
    )
    try:
        fix = create_at(sheet, made, device, strange.place)
    except NoFix:
        return None
    return fix if trusted else with_fields(fix, applicability=Applicability.UNSAFE)


def move_to_meet(sheet: FixContext, event: DeviceConflict) -> Fix:
    """The strange operand of a clash is made on the other's device, or moved there where the two meet."""
    made_there = bring(sheet, event, event.misplaced, event.other)
    return made_there if made_there is not None else move_where_used(sheet, event)


def move_where_used(sheet: FixContext, event: DeviceConflict) -> Fix:
    """The strange operand of a clash is moved to the other's device, where the two meet."""
    strange, other = event.misplaced, event.other
    part = sheet.part(strange.place)
    node = written_operand(part, strange)
    if strange.of_module:
        raise NoFix
    if strange.inside and other.inside and event.operation.startswith("torch._foreach_"):
        those = part.code(written_operand(part, other))
        pairs = f"[one.to(other.device) for one, other in zip({part.code(node)}, {those})]"
        return Fix("Move each to its partner", Applicability.UNSAFE, (replace(part, node, pairs),))
    suffix = f".to({device_at_meeting(event, other)}{unblocked(strange)})"
    if strange.inside:
        return Fix("Move each of them", Applicability.UNSAFE, (replace(part, node, each(part, node, suffix)),))
    message, edits = transfer(part, node, suffix)
    return Fix(message, Applicability.UNSAFE, edits)


def is_moved_on(part: NodeRegion, node: object) -> bool:
    """Whether a chain of methods on an expression's value moves it: `x[i].view(3).to(device)`."""
    above = part.parent(node) if isinstance(node, cst.BaseExpression) else None
    while isinstance(above, (cst.Attribute, cst.Call)):
        if isinstance(above, cst.Attribute) and above.attr.value in ("to", "cuda", "type_as"):
            return True
        above = part.parent(above)
    return False


def unblocked(operand: Operand) -> str:
    """The further argument of a transfer from pinned memory, which the host need not wait for."""
    return ", non_blocking=True" if operand.tensor.pinned else ""


def each(part: NodeRegion, node: cst.BaseExpression, suffix: str) -> str:
    """The list of what a method makes of each element of an expression's value."""
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        start, _ = part.span(node.for_in)
        end = part.span(node)[1] - (1 if isinstance(node, cst.ListComp) or node.lpar else 0)
        return f"[{method_text(part, node.elt, suffix)} {part.sheet.text[start:end]}]"
    return f"[one{suffix} for one in {part.code(node)}]"


def written_operand(part: NodeRegion, operand: Operand) -> cst.BaseExpression:
    """The expression of an operand; of what is assigned to an entry, the right-hand side."""
    node = operand.place.node
    above = part.parent(node) if isinstance(node, cst.CSTNode) else None
    statement = part.parent(above) if isinstance(above, cst.AssignTarget) else None
    if operand.name == "value" and isinstance(statement, cst.Assign):
        return statement.value
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    return node


def _can_be_rebound(part: NodeRegion, node: cst.BaseExpression) -> bool:
    """Whether a statement before the one that reads a variable can give it another value."""
    try:
        statement = statement_of(part, node)
    except NoFix:
        return False
    names = {one.value for one in (node, *descend(node)) if isinstance(one, cst.Name)}
    inner = (above for above in part.parents(node) if isinstance(above, cst.BaseComp))
    if any(names & set(names_in_target(comp.for_in.target)) for comp in inner):
        return False
    return not isinstance(node, cst.Name) or is_bound_here(part, statement, node.value)


def _is_read_again(part: NodeRegion, node: cst.BaseExpression) -> bool:
    """Whether a variable is read elsewhere in its function; for an attribute or an entry, by the same words."""
    if isinstance(node, cst.Name):
        return is_read_again(part, node)
    function = part.function(node)
    return function is not None and sum(one.deep_equals(node) for one in descend(function.body)) > 1


def _is_changed_in_place(part: NodeRegion, node: cst.BaseExpression) -> bool:
    """Whether the tensor at a place is itself written to, so that a moved copy would take the change away."""
    above = part.parent(node)
    match above:
        case cst.AugAssign(target=target) if target is node:
            return True
        case cst.Attribute(attr=cst.Name(value=name)) if name.endswith("_") and not name.endswith("__"):
            return isinstance(part.parent(above), cst.Call)
        case cst.Subscript(value=value) if value is node:
            outer = part.parent(above)
            return isinstance(outer, (cst.AssignTarget, cst.AugAssign))
    return isinstance(above, cst.AssignTarget) or not is_readable(node)


def is_readable(node: cst.BaseExpression) -> bool:
    """Whether an expression is one whose value is read here, and not a star or a whole comprehension's clause."""
    return is_plain(node) or isinstance(node, (cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Comparison))
