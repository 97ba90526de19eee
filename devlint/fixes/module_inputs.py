"""Fixes for a module that is called with an input on another device: move the input, or move the module."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.domain.placement import Place
from devlint.fixes.edits import replace_node, text_with_call
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.operand_placement import create_on_device_of, insert_transfer, map_elements, non_blocking_argument
from devlint.fixes.statement_edits import (
    enclosing_statement,
    insert_lines_before,
    insert_lines_before_statement,
    outermost_loop,
)
from devlint.fixes.tensor_device_text import device_at_conflict, is_repeatable
from devlint.interpreter.program.liveness import names_changed_in
from devlint.interpreter.state.events import ModuleInputConflict, Operand
from devlint.syntax.tree_walk import dotted_name


def move_input(
    context: FixContext, event: ModuleInputConflict, weights: Operand, given: Operand, argument: Place | None
) -> Fix:
    """Return a fix that creates the input of a module on the module's device, or moves the input there before the call.

    `weights` and `given` are the operands for the module and for its input. `argument` is the input as written in the
    call; None when it is not known which argument holds the input. Raises NoFix when the input is an attribute of an
    argument, or a container that the call does not unpack.
    """
    creation_fix = create_on_device_of(context, event, given, weights)
    if creation_fix is not None:
        return creation_fix
    region = context.region_at(event.context.place)
    suffix = f".to({_weights_device(region, event, weights)}{non_blocking_argument(given)})"
    if argument is None or _is_starred(region, argument):
        return _move_starred(region, event.context.place.node, suffix)
    if not isinstance(argument.node, cst.BaseExpression) or given.inside:
        raise NoFix
    if isinstance(given.place.node, cst.Subscript) and argument != given.place:
        return _move_entries(region, argument.node, suffix)
    if _is_attribute_of_argument(given):
        raise NoFix
    message, edits = insert_transfer(region, argument.node, suffix)
    return Fix(message, Applicability.UNSAFE, edits)


def move_module(context: FixContext, event: ModuleInputConflict, given: Operand) -> Fix:
    """Return a fix that inserts a statement which moves a module to the device of its input.

    The statement is inserted before the outermost loop around the call that changes neither the module nor the device;
    without such a loop, before the call.
    """
    region = context.region_at(event.context.place)
    module = region.code(_called_module(event.context.place.node))
    device = device_at_conflict(event, given, without=(module,))
    roots = {device.partition(".")[0], module.partition(".")[0]}
    call = node_at(event.context.place)
    statement = outermost_loop(region, call, lambda loop: not roots & names_changed_in(loop)) or enclosing_statement(
        region, call
    )
    edit = insert_lines_before_statement(region, statement, f"{module}.to({device})")
    return Fix(f"Move `{module}` to `{device}`", Applicability.UNSAFE, (edit,))


def _weights_device(region: NodeRegion, event: ModuleInputConflict, weights: Operand) -> str:
    """Return the source text of an expression for the device of a module's parameters.

    It is `next(module.parameters()).device` where no shorter expression is valid. A module has no `module.device`.
    """
    call = event.context.place.node
    name = dotted_name(call.func) if isinstance(call, cst.Call) else None
    try:
        return device_at_conflict(event, weights, without=(name,) if name is not None else ())
    except NoFix:
        return f"next({region.code(_called_module(call))}.parameters()).device"


def _called_module(call: object) -> cst.BaseExpression:
    """Return the expression of the module that a call calls, `self.fc` of `self.fc(x)`.

    Raises NoFix if the expression contains a call, because a fix must be able to repeat the expression.
    """
    if isinstance(call, cst.Call) and isinstance(call.func, (cst.Name, cst.Attribute)) and is_repeatable(call.func):
        return call.func
    raise NoFix


def _move_starred(region: NodeRegion, call: object, suffix: str) -> Fix:
    """Return a fix that moves each of the inputs that the call of a module unpacks with `*` or `**`.

    Raises NoFix unless the call unpacks exactly one expression, and that expression contains no call.
    """
    stars = [one for one in call.args if one.star] if isinstance(call, cst.Call) else []
    if len(stars) != 1 or not is_repeatable(stars[0].value):
        raise NoFix
    if stars[0].star == "**":
        return _move_entries(region, stars[0].value, suffix)
    value = stars[0].value
    return Fix(
        "Move each input", Applicability.UNSAFE, (replace_node(region, value, map_elements(region, value, suffix)),)
    )


def _move_entries(region: NodeRegion, mapping: cst.BaseExpression, suffix: str) -> Fix:
    """Return a fix that moves the tensors in a dict of module inputs, and keeps the entries that are no tensors."""
    torch, imported = write_library_name(region, mapping, "torch")
    code = text_with_call(region, mapping, ".items()")
    moved = f"{{key: value{suffix} if {torch}.is_tensor(value) else value for key, value in {code}}}"
    if isinstance(mapping, cst.Name):
        edit = insert_lines_before(region, mapping, f"{mapping.value} = {moved}")
    else:
        edit = replace_node(region, mapping, moved)
    return Fix("Move the tensors among the inputs", Applicability.UNSAFE, (*imported, edit))


def _is_starred(region: NodeRegion, argument: Place) -> bool:
    """Return whether a call unpacks the given argument with `*` or `**`."""
    above = region.parent(argument.node) if isinstance(argument.node, cst.CSTNode) else None
    return isinstance(above, cst.Arg) and bool(above.star)


def _is_attribute_of_argument(given: Operand) -> bool:
    """Return whether a module's input tensor is an attribute of the passed argument, as `batch.x` is of `batch`."""
    node = given.place.node
    name = dotted_name(node) if isinstance(node, cst.BaseExpression) else None
    return name is not None and "." in name and not name.startswith("self.")
