"""A fix for a tensor that the host cannot read: insert `.cpu()`, `.detach()` or both before the read."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import append_call, replace_node
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix
from devlint.fixes.operand_placement import map_elements
from devlint.interpreter.state.events import HostRead


def insert_host_copy(context: FixContext, event: HostRead, suffix: str) -> Fix:
    """Return a fix that inserts `.cpu()`, `.detach()` or both where the host reads a tensor.

    The inserted calls have no effect where they are not necessary. The fix is safe when the reader is a method of
    tensors. It is unsafe when the reader is a function of NumPy, which may also receive arrays: arrays lack these
    methods.
    """
    region, node = context.region_at(event.operand), event.operand.node
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    edits = _element_edits(region, node, suffix) if event.inside else append_call(region, node, suffix)
    safe = event.reader.startswith(".") and not event.inside
    return Fix(f"Read the tensor through `{suffix}`", Applicability.SAFE if safe else Applicability.UNSAFE, edits)


def _element_edits(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """Return the edits that append a method call to every element of a container of tensors that the host reads."""
    match node:
        case cst.ListComp(elt=element) | cst.GeneratorExp(elt=element) | cst.SetComp(elt=element):
            return append_call(region, element, suffix)
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            if any(isinstance(one, cst.StarredElement) for one in elements):
                raise NoFix
            return tuple(edit for one in elements for edit in append_call(region, one.value, suffix))
    return (replace_node(region, node, map_elements(region, node, suffix)),)
