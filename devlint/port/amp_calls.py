"""The port of automatic mixed precision: `torch.cuda.amp` becomes `torch.amp`, which is passed the device's type."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.device_types import type_edits
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.host_precision import has_switch, host_condition, switched_off_on_host
from devlint.port.port_context import PortContext, plain_arguments
from devlint.semantics.accelerators import Replacement


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
    off_on_host = context.may_run_on_host and has_switch(by.name)
    shown = device if by.keyword is None else f"{by.keyword}={device}"
    edits: list[Edit] = [*imports, replace_node(region, node, text)] if renamed else []
    if off_on_host and not call.args:
        end = region.span(call)[1] - 1
        shown = f"{shown}, enabled={host_condition(device)}"
        return Port(f"{text}({shown})", [*edits, region.context.edit(end, end, shown)])
    edits += type_edits(region, call, device, by)
    if off_on_host:
        edits += switched_off_on_host(region, call, by.name, device)
    if not call.args:
        return Port(f"{text}({shown})", edits)
    return Port(f"{text}(..., {shown})" if by.keyword is not None else f"{text}({shown}, ...)", edits)
