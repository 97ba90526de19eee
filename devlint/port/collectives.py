"""The port of the text `"nccl"` where it is the backend of process groups: the device's own backend takes its place."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
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
    if _is_compared(region, node):
        raise LeftInGuard("it is compared: the code asks for NCCL")
    if not _is_backend(context, region, node):
        raise LeftForHuman("whether this text is a backend of torch.distributed, the code around it does not tell")
    context.need_torch(by.since, _DEFAULT_BACKEND)
    more: tuple[Edit, ...] = ()
    if _is_of_group(context, region, node):
        device = context.device(region, node)
    else:
        device, more = context.device_of_default(region, node)
    text, imports = context.library(region, node, _DEFAULT_BACKEND)
    new = f"{text}({device.argument})"
    return Port(new, [*imports, *more, replace_text(region, node, new)])


def _is_compared(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a text is compared, alone or in a list, or looked for at the start of another text."""
    above = [one for one in region.ancestors(node) if not isinstance(one, (cst.Element, cst.List, cst.Tuple, cst.Set))]
    match above[0]:
        case cst.Comparison() | cst.ComparisonTarget():
            return True
        case cst.Arg():
            call = above[1]
            return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and _is_test(call.func)
    return False


def _is_test(method: cst.Attribute) -> bool:
    """Return whether a method tells what a text starts or ends with."""
    return method.attr.value in ("startswith", "endswith")


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
            return _is_option(call) and keyword is not None and keyword.value == "default"
        case cst.Element() as element:
            holder = region.parent(sequence) if (sequence := region.parent(element)) is not None else None
            call = region.parent(holder) if isinstance(holder, cst.Arg) else None
            is_choice = isinstance(holder, cst.Arg) and holder.keyword is not None and holder.keyword.value == "choices"
            return is_choice and isinstance(call, cst.Call) and _is_option(call)
        case cst.AnnAssign(target=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
            return "backend" in name.lower()
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))]
        ):
            return "backend" in name.lower()
        case cst.Param(name=cst.Name(value=name)):
            return "backend" in name.lower()
    return False


def _is_option(call: cst.Call) -> bool:
    """Return whether a call defines a command-line option for a backend, by the option's name."""
    options = [one.value for one in call.args if one.keyword is None]
    texts = [string_value(one) for one in options if isinstance(one, cst.SimpleString)]
    return any(isinstance(one, str) and one.startswith("-") and "backend" in one for one in texts)
