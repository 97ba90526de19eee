"""The port of the text `"nccl"` where it is the backend of process groups: the device's own backend takes its place."""

from __future__ import annotations

import libcst as cst

from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, LeftInGuard, Port
from devlint.port.port_context import PortContext, replace_text
from devlint.semantics.accelerators import replacements_of
from devlint.syntax.string_literals import string_value

_GROUPS = frozenset({"torch.distributed.init_process_group", "torch.distributed.new_group"})
_DEFAULT_BACKEND = "torch.distributed.get_default_backend_for_device"


def port_backend(context: PortContext, region: NodeRegion, node: cst.SimpleString) -> Port:
    """Return the port of the text `"nccl"`."""
    (by, *_) = replacements_of("nccl")
    above = region.parent(node)
    if isinstance(above, (cst.Comparison, cst.ComparisonTarget)):
        raise LeftInGuard("it is compared: the code asks for NCCL")
    if not _is_backend(context, region, node):
        raise LeftForHuman("whether this text is a backend of torch.distributed, the code around it does not tell")
    context.need_torch(by.since, _DEFAULT_BACKEND)
    device = context.device(region, node, is_used_now=_is_of_group(context, region, node))
    text, imports = context.library(region, node, _DEFAULT_BACKEND)
    new = f"{text}({device.text})"
    return Port(new, [*imports, replace_text(region, node, new)])


def _is_of_group(context: PortContext, region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a text is passed to a function of torch that makes process groups."""
    argument = region.parent(node)
    call = region.parent(argument) if isinstance(argument, cst.Arg) else None
    return isinstance(call, cst.Call) and context.names.full_name(region, call.func) in _GROUPS


def _is_backend(context: PortContext, region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a text is a backend of torch.distributed: by the call that takes it, or the name that it gets."""
    match region.parent(node):
        case cst.Arg(keyword=keyword) as argument:
            call = region.parent(argument)
            if not isinstance(call, cst.Call):
                return False
            if _is_of_group(context, region, node):
                is_first = keyword is None and call.args.index(argument) == 0
                return is_first or (keyword is not None and keyword.value == "backend")
            options = [one.value for one in call.args if one.keyword is None]
            texts = [string_value(one) for one in options if isinstance(one, cst.SimpleString)]
            is_option = any(isinstance(one, str) and one.startswith("-") and "backend" in one for one in texts)
            return is_option and keyword is not None and keyword.value == "default"
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))]
        ):
            return "backend" in name.lower()
        case cst.Param(name=cst.Name(value=name)):
            return "backend" in name.lower()
    return False
