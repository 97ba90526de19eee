"""The port of the text `"nccl"` where it is the backend of process groups: the device's own backend takes its place."""

from __future__ import annotations

import libcst as cst

from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, LeftInGuard, Port
from devlint.port.port_context import PortContext
from devlint.semantics.accelerators import replacements_of

_GROUPS = frozenset({"torch.distributed.init_process_group", "torch.distributed.new_group"})
_DEFAULT_BACKEND = "torch.distributed.get_default_backend_for_device"


def port_backend(context: PortContext, region: NodeRegion, node: cst.SimpleString) -> Port:
    """Return the port of the text `"nccl"`."""
    (by, *_) = replacements_of("nccl")
    above = region.parent(node)
    if isinstance(above, (cst.Comparison, cst.ComparisonTarget)):
        raise LeftInGuard("it is compared: the code asks for NCCL")
    call = region.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(above, cst.Arg):
        raise LeftForHuman("whether this text is a backend of torch.distributed, the code around it does not tell")
    name = context.names.full_name(region, call.func)
    keyword = above.keyword.value if above.keyword is not None else None
    is_backend = keyword == "backend" or (keyword is None and call.args.index(above) == 0)
    if name not in _GROUPS or not is_backend:
        raise LeftForHuman("whether this text is a backend of torch.distributed, the code around it does not tell")
    context.need_torch(by.since, _DEFAULT_BACKEND)
    device = context.device(region, node)
    text, imports = context.library(region, node, _DEFAULT_BACKEND)
    new = f"{text}({device.text})"
    return Port(new, [*imports, replace_node(region, node, new)])
