"""The port of automatic mixed precision: `torch.cuda.amp` becomes `torch.amp`, which is passed the device's type."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.port_context import PortContext, plain_arguments
from devlint.semantics.accelerators import Replacement

_POSITIONAL = {"torch.cuda.amp.autocast": ("enabled", "dtype", "cache_enabled")}
"""The parameters of functions whose replacement has them in another order: they are passed by keyword then."""


def port_amp(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call | None, by: Replacement
) -> Port:
    """Return the port of `autocast`, `GradScaler` and the decorators of autograd functions."""
    return amp_edits(context, region, node, call, by, renamed=True)


def amp_edits(
    context: PortContext,
    region: NodeRegion,
    node: cst.CSTNode,
    call: cst.Call | None,
    by: Replacement,
    *,
    renamed: bool,
) -> Port:
    """Return the port of a mention of a name of `torch.cuda.amp`; unless `renamed`, an import gives the new meaning."""
    if "set_autocast" in context.fixes.text:
        raise LeftForHuman("the file sets what autocast does by default")
    text, imports = context.library(region, node, by.by) if renamed else (region.code(node), ())
    if any(isinstance(one, cst.Annotation) for one in region.ancestors(node)):
        return Port(text, [*imports, replace_node(region, node, text)] if renamed else [])
    device = context.device(region, node).type_text
    if call is None:
        if by.keyword is None or not isinstance(region.parent(node), cst.Decorator):
            raise LeftForHuman("it is not called here, but passed on, and the new one needs the device's type")
        new = f"{text}({by.keyword}={device})"
        return Port(new, [*imports, replace_node(region, node, new)])
    plain_arguments(region, call)
    edits: list[Edit] = [*imports, replace_node(region, node, text)] if renamed else []
    first = f"{device}" if by.keyword is None else f"{by.keyword}={device}"
    end = region.span(call)[1] - 1
    if not call.args:
        edits.append(region.context.edit(end, end, first))
        return Port(f"{text}({first})", edits)
    if by.keyword is not None:
        last = region.span(call.args[-1])[1]
        edits.append(region.context.edit(last, last, f", {first}"))
        return Port(f"{text}(..., {first})", edits)
    names = _POSITIONAL.get(by.name, ())
    for place, one in enumerate(call.args):
        start = region.span(one)[0]
        prefix = f"{first}, " if place == 0 else ""
        if one.keyword is None and names:
            prefix += f"{names[place]}=" if place < len(names) else ""
        if prefix:
            edits.append(region.context.edit(start, start, prefix))
    return Port(f"{text}({first}, ...)", edits)
