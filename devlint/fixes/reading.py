"""Tensors that the host is to read: copied to it first, and taken out of autograd where that follows them."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import method, replace
from devlint.fixes.placing import each
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix
from devlint.interpreter.state.events import HostRead


def read_from_host(sheet: FixContext, event: HostRead, suffix: str) -> Fix:
    """What is read is read through a method: `.cpu()`, `.detach()` or both. It does nothing where it is not needed.

    Safe where the reader is itself a method of tensors; a function of NumPy's may be given arrays as well.
    """
    part, node = sheet.part(event.operand), event.operand.node
    if not isinstance(node, cst.BaseExpression):
        raise NoFix
    edits = _inside(part, node, suffix) if event.inside else method(part, node, suffix)
    safe = event.reader.startswith(".") and not event.inside
    return Fix(f"Read it through `{suffix}`", Applicability.SAFE if safe else Applicability.UNSAFE, edits)


def _inside(part: NodeRegion, node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """Every tensor in a container is read through a method."""
    match node:
        case cst.ListComp(elt=element) | cst.GeneratorExp(elt=element) | cst.SetComp(elt=element):
            return method(part, element, suffix)
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            if any(isinstance(one, cst.StarredElement) for one in elements):
                raise NoFix
            return tuple(edit for one in elements for edit in method(part, one.value, suffix))
    return (replace(part, node, each(part, node, suffix)),)
