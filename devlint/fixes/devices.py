"""The device of a tensor in words that are right where a fix writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from devlint.domain.placement import DeviceExpression, Placement
from devlint.explain.conflict_stories import device_source_of
from devlint.fixes.sheet import NoFix
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.tree_walk import descend


def worded(wordings: Iterable[DeviceExpression], placement: Placement, without: Sequence[str] = ()) -> str | None:
    """The first wording of a placement that leans on none of the names `without`."""
    for wording in wordings:
        if wording.text.removesuffix(".device") not in without and wording.is_device_of(placement):
            return wording.text
    return None


def device_at_meeting(event: DeviceConflict, operand: Operand, without: Sequence[str] = ()) -> str:
    """How to write the device of an operand where the clash is reported. Raises Unfit where nothing says it."""
    placement = operand.tensor.placement
    told = worded((one for one in event.wordings if not one.of_tensor), placement, without)
    if told is not None:
        return told
    node = operand.place.node
    if operand.of_module is None and not operand.inside and isinstance(node, cst.BaseExpression) and is_plain(node):
        text = cst.Module([]).code_for_node(node)
        if "\n" not in text and text not in without:
            return f"{text}.device"
    told = worded(event.wordings, placement, without) or device_source_of(event, operand)
    if told is None:
        raise NoFix
    return told


def is_plain(node: object) -> bool:
    """Whether an expression can be written once more without being computed anew: names, attributes, plain entries."""
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
        return False
    return not any(isinstance(one, (cst.Call, cst.Await, cst.NamedExpr)) for one in descend(node))
