"""Source text of expressions for the device of a tensor that are valid where a fix inserts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from devlint.domain.placement import DeviceExpression, Placement
from devlint.explain.conflict_texts import device_source
from devlint.fixes.fix_context import NoFix
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.source_code import source_code
from devlint.syntax.tree_walk import descend


def find_device_expression(
    wordings: Iterable[DeviceExpression], placement: Placement, without: Sequence[str] = ()
) -> str | None:
    """Return the source text of the first device expression whose value is the device of a placement; None without one.

    An expression `x.device` is skipped if `x` is in `without`.
    """
    for wording in wordings:
        if wording.text.removesuffix(".device") not in without and wording.is_device_of(placement):
            return wording.text
    return None


def device_at_conflict(event: DeviceConflict, operand: Operand, without: Sequence[str] = ()) -> str:
    """Return the source text of an expression for an operand's device that is valid where a device conflict happens.

    An expression that names the device itself is preferred, then `operand.device`, then an expression that reads the
    device from another tensor. Expressions in `without` are not used. Raises NoFix when there is no such expression.
    """
    placement = operand.tensor.placement
    told = find_device_expression((one for one in event.device_expressions if not one.of_tensor), placement, without)
    if told is not None:
        return told
    node = operand.place.node
    if (
        operand.of_module is None
        and not operand.inside
        and isinstance(node, cst.BaseExpression)
        and is_repeatable(node)
    ):
        text = source_code(operand.place.unit, node)
        if "\n" not in text and text not in without:
            return f"{text}.device"
    told = find_device_expression(event.device_expressions, placement, without) or device_source(event, operand)
    if told is None:
        raise NoFix
    return told


def is_repeatable(node: object) -> bool:
    """Return whether an expression can be repeated without computing anything again.

    It must be a name, an attribute or an entry, and contain no call.
    """
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
        return False
    return not any(isinstance(one, (cst.Call, cst.Await, cst.NamedExpr)) for one in descend(node))
