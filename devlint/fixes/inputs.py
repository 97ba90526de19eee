"""Brings a module and its inputs together: the input is moved before the call, or the module before the loop."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.domain.placement import Place
from devlint.fixes.devices import device_at_meeting, is_plain
from devlint.fixes.edits import method_text, replace
from devlint.fixes.imports import spell
from devlint.fixes.placing import bring, each, transfer, unblocked
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.statements import outermost_loop, put_before, put_before_statement, statement_of
from devlint.interpreter.program.liveness import names_changed_in
from devlint.interpreter.state.events import ModuleInputConflict, Operand
from devlint.syntax.tree_walk import dotted_name


def move_input(
    sheet: FixContext, event: ModuleInputConflict, weights: Operand, given: Operand, argument: Place | None
) -> Fix:
    """The input is made or moved to where the module's weights are."""
    made_there = bring(sheet, event, given, weights)
    if made_there is not None:
        return made_there
    part = sheet.part(event.context.place)
    suffix = f".to({_weights_device(part, event, weights)}{unblocked(given)})"
    if argument is None or _is_starred(part, argument):
        return _move_starred(part, event.context.place.node, suffix)
    if not isinstance(argument.node, cst.BaseExpression) or given.inside:
        raise NoFix
    if isinstance(given.place.node, cst.Subscript) and argument != given.place:
        return _move_entries(part, argument.node, suffix)
    if _is_attribute_of_argument(given):
        raise NoFix
    message, edits = transfer(part, argument.node, suffix)
    return Fix(message, Applicability.UNSAFE, edits)


def move_module(sheet: FixContext, event: ModuleInputConflict, given: Operand) -> Fix:
    """The module is moved to where its input is, before the outermost loop that can do without."""
    part = sheet.part(event.context.place)
    module = part.code(_module(event.context.place.node))
    device = device_at_meeting(event, given, without=(module,))
    roots = {device.partition(".")[0], module.partition(".")[0]}
    call = node_at(event.context.place)
    statement = outermost_loop(part, call, lambda loop: not roots & names_changed_in(loop)) or statement_of(part, call)
    edit = put_before_statement(part, statement, f"{module}.to({device})")
    return Fix(f"Move `{module}` to `{device}`", Applicability.UNSAFE, (edit,))


def _weights_device(part: NodeRegion, event: ModuleInputConflict, weights: Operand) -> str:
    try:
        return device_at_meeting(event, weights)
    except NoFix:
        return f"next({part.code(_module(event.context.place.node))}.parameters()).device"


def _module(call: object) -> cst.BaseExpression:
    if isinstance(call, cst.Call) and isinstance(call.func, (cst.Name, cst.Attribute)) and is_plain(call.func):
        return call.func
    raise NoFix


def _move_starred(part: NodeRegion, call: object, suffix: str) -> Fix:
    """The inputs that a call unpacks are moved, each of them."""
    stars = [one for one in call.args if one.star] if isinstance(call, cst.Call) else []
    if len(stars) != 1 or not is_plain(stars[0].value):
        raise NoFix
    if stars[0].star == "**":
        return _move_entries(part, stars[0].value, suffix)
    value = stars[0].value
    return Fix("Move each input", Applicability.UNSAFE, (replace(part, value, each(part, value, suffix)),))


def _move_entries(part: NodeRegion, mapping: cst.BaseExpression, suffix: str) -> Fix:
    """A dict of inputs: its tensors are moved, whatever else is in it stays."""
    torch, imported = spell(part, mapping, "torch")
    code = method_text(part, mapping, ".items()")
    moved = f"{{key: value{suffix} if {torch}.is_tensor(value) else value for key, value in {code}}}"
    if isinstance(mapping, cst.Name):
        edit = put_before(part, mapping, f"{mapping.value} = {moved}")
    else:
        edit = replace(part, mapping, moved)
    return Fix("Move the tensors among the inputs", Applicability.UNSAFE, (*imported, edit))


def _is_starred(part: NodeRegion, argument: Place) -> bool:
    above = part.parent(argument.node) if isinstance(argument.node, cst.CSTNode) else None
    return isinstance(above, cst.Arg) and bool(above.star)


def _is_attribute_of_argument(given: Operand) -> bool:
    """Whether the module takes its input out of what it is given, as `batch.x`."""
    node = given.place.node
    name = dotted_name(node) if isinstance(node, cst.BaseExpression) else None
    return name is not None and "." in name and not name.startswith("self.")
