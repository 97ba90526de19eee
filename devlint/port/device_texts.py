"""The port of texts that name CUDA devices, where they surely are devices: arguments, defaults, assignments."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.fixes.device_names import AVAILABLE, CURRENT, DeviceName, is_device_name
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, LeftInGuard, Port
from devlint.port.device_spellings import DeviceSpelling
from devlint.port.host_precision import has_switch, switched_off_on_host
from devlint.port.made_device import AsksTooEarly
from devlint.port.port_context import PortContext, replace_text
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import dotted_name

_FIRST_IS_DEVICE: Final = frozenset(
    "torch.device torch.autocast torch.amp.autocast torch.amp.GradScaler torch.set_default_device torch.Generator"
    " torch.get_device_module torch.Event torch.Stream torch.amp.is_autocast_available".split()
)
"""The functions and classes of torch whose first argument is a device."""
_TAKE_TYPE: Final = frozenset({"torch.device", "torch.autocast", "torch.amp.autocast", "torch.amp.GradScaler"})
"""The functions and classes of torch that are given the type of a device as a text."""
_ACCELERATORS: Final = frozenset("hpu mlu mps musa npu tpu xla xpu".split())
"""The types of accelerators other than CUDA, as programs write them."""
_TRANSFERS: Final = frozenset({"to", "to_empty"})
"""The methods of tensors and modules whose first argument is a device."""


def port_text(context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling) -> Port:
    """Return the port of a string literal that names a CUDA device."""
    outer = _whole_text(region, node)
    above = region.parent(outer)
    if _is_in_enumeration(region, node):
        raise LeftInGuard("it is a member of an enumeration: the code tells backends apart")
    match above:
        case cst.Comparison() | cst.ComparisonTarget():
            raise LeftInGuard("it is compared: the code asks for CUDA")
        case cst.Index():
            raise LeftInGuard("it is a key: the code tells backends apart")
        case cst.DictElement(key=key) if key is outer:
            raise LeftInGuard("it is a key: the code tells backends apart")
        case cst.Element():
            return _port_element(context, region, node, spelling, above)
        case cst.Arg():
            return _port_argument(context, region, node, spelling, above)
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) if is_device_name(_last_name(target)):
            return _port_assignment(context, region, node, spelling)
        case cst.AnnAssign(target=target) if is_device_name(_last_name(target)):
            return _port_assignment(context, region, node, spelling)
        case cst.Param(name=cst.Name(value=name)) if is_device_name(name):
            if spelling.is_open or spelling.is_formatted:
                raise LeftForHuman("a default that is made up of parts")
            return _default(context, region, node, spelling)
        case cst.DictElement(key=cst.SimpleString() as key) if key is not outer:
            text = string_value(key)
            if isinstance(text, str) and is_device_name(text):
                return _named(context, region, node, spelling, is_used_now=False)
    raise LeftForHuman("whether this text is a device, the code around it does not tell")


def is_device_of_torch(context: PortContext, region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a text is the device of a transfer or of a function of torch that makes or moves tensors."""
    argument = region.parent(_whole_text(region, node))
    call = region.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(argument, cst.Arg):
        return False
    name = context.names.full_name(region, call.func)
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _TRANSFERS and not name.startswith("torch."):
        return argument is call.args[0]
    is_named = argument.keyword is not None and argument.keyword.value in ("device", "map_location")
    return is_named and name.startswith("torch.") and not has_switch(name)


def _whole_text(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode:
    """Return the largest string expression that a literal begins: `"cuda:" + str(i)`, `"cuda:{}".format(i)`."""
    outer = node
    for above in region.ancestors(node):
        match above:
            case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Modulo()) if left is outer:
                outer = above
            case cst.Attribute(value=value, attr=cst.Name(value="format")) if value is outer:
                outer = above
            case cst.Call(func=func) if func is outer and func is not node:
                outer = above
            case _:
                break
    return outer


def _port_argument(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling, argument: cst.Arg
) -> Port:
    """Return the port of a text that is an argument of a call, alone or as the start of a larger text."""
    call = region.parent(argument)
    if not isinstance(call, cst.Call) or argument.star:
        raise LeftForHuman("whether this text is a device, the code around it does not tell")
    name = context.names.full_name(region, call.func)
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    keyword = argument.keyword.value if argument.keyword is not None else None
    place = call.args.index(argument)
    if (
        method == "startswith"
        or name == "getattr"
        or (isinstance(call.func, cst.Name) and call.func.value == "getattr")
    ):
        raise LeftInGuard("it is compared: the code asks for CUDA")
    if keyword == "device_types" or method == "register_kernel":
        raise LeftInGuard("it registers an operator for CUDA")
    if name == "torch.device" and _is_compared(region, call):
        raise LeftInGuard("it is compared: the code asks for CUDA")
    is_transfer = method in _TRANSFERS and not name.startswith("torch.") and place == 0
    is_first = place == 0 and (name in _FIRST_IS_DEVICE or is_transfer)
    if keyword == "default" and _option_names(call):
        if not any(_is_device_option(one) for one in _option_names(call)):
            raise LeftForHuman("whether this option is a device, its name does not tell")
        return _default(context, region, node, spelling)
    if keyword is None and place and _is_device_option_text(call.args[place - 1].value):
        return _named(context, region, node, spelling, is_used_now=False)
    if keyword is None and not is_first and not (name == "torch.load" and place == 1):
        raise LeftForHuman("whether this text is a device, the code around it does not tell")
    if keyword is not None and not is_device_name(keyword) and keyword != "device_type":
        raise LeftForHuman("whether this text is a device, the code around it does not tell")
    is_whole = argument.value is node and spelling.is_current
    if name == "torch.device" and is_whole and len(call.args) == 1:
        return _port_torch_device(context, region, call)
    takes_device = is_transfer or (name.startswith("torch.") and name not in _TAKE_TYPE)
    if is_whole and takes_device and keyword in (None, "device", "map_location"):
        device = context.device(region, node)
        return Port(device.text, [replace_text(region, node, device.text)])
    if not spelling.is_current and (keyword == "map_location" or name == "torch.load"):
        return _port_location(context, region, node, spelling, argument)
    is_used_now = (name.startswith("torch.") and name != "torch.device") or is_transfer
    found = _named(context, region, node, spelling, is_used_now=is_used_now)
    if is_whole and has_switch(name) and context.may_run_on_host:
        type_text = context.device(region, node).type_text
        return Port(found.shown, [*found.edits, *switched_off_on_host(region, call, name, type_text)])
    return found


def _is_compared(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether an expression is compared, alone or as a member of a list."""
    for above in region.ancestors(node):
        if not isinstance(above, (cst.Element, cst.List, cst.Tuple, cst.Set)):
            return isinstance(above, (cst.Comparison, cst.ComparisonTarget))
    return False


def _port_location(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling, argument: cst.Arg
) -> Port:
    """Return the port of a device with an index to which `torch.load` moves: of the host, it takes no index."""
    device = context.device(region, node)
    available, imports = context.available(region, node)
    new, end = spelling.text_for(device.type_text), region.span_with_parentheses(argument.value)[1]
    rest = f' if {available} else "cpu"'
    if argument.value is node:
        return Port(new + rest, [*imports, replace_text(region, node, new + rest)])
    return Port(new + rest, [*imports, replace_text(region, node, new), region.context.edit(end, end, rest)])


def _port_element(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling, element: cst.Element
) -> Port:
    """Return the port of a text in a list: one of the choices of an option, or an option of another program."""
    sequence = region.parent(element)
    holder = region.parent(sequence) if sequence is not None else None
    if isinstance(holder, (cst.Comparison, cst.ComparisonTarget)):
        raise LeftInGuard("it is compared: the code asks for CUDA")
    if isinstance(sequence, (cst.List, cst.Tuple)):
        values = [string_value(one.value) for one in sequence.elements if isinstance(one.value, cst.SimpleString)]
        if not _ACCELERATORS.isdisjoint(values):
            raise LeftInGuard("it is one of several accelerators that the code names")
        place = sequence.elements.index(element)
        call = region.parent(holder) if isinstance(holder, cst.Arg) else None
        is_choice = (
            isinstance(call, cst.Call)
            and isinstance(holder, cst.Arg)
            and holder.keyword is not None
            and holder.keyword.value == "choices"
            and any(_is_device_option(one) for one in _option_names(call))
        )
        if is_choice or (place and _is_device_option_text(sequence.elements[place - 1].value)):
            return _default(context, region, node, spelling)
        if isinstance(holder, cst.Arg) and holder.keyword is not None and holder.keyword.value == "device_types":
            raise LeftInGuard("it registers an operator for CUDA")
    raise LeftForHuman("whether this text is a device, the code around it does not tell")


def _is_in_enumeration(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether a text is assigned to a name in the body of an enumeration."""
    above = list(region.ancestors(node))
    holder = next((one for one in above if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
    if not isinstance(holder, cst.ClassDef) or not isinstance(above[0], cst.Assign):
        return False
    return any((dotted_name(one.value) or "").endswith(("Enum", "Choices")) for one in holder.bases)


def _is_device_option_text(node: cst.CSTNode) -> bool:
    """Return whether an expression is the text of a command-line option for a device, such as `"--device"`."""
    text = string_value(node) if isinstance(node, cst.SimpleString) else None
    return isinstance(text, str) and text.startswith("-") and _is_device_option(text)


def _is_device_option(text: str) -> bool:
    """Return whether the name of a command-line option says that its value is a device."""
    return is_device_name(text.strip("-").replace("-", "_"))


def _named(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling, *, is_used_now: bool
) -> Port:
    """Return the port of a text to a string of the same meaning for the program's device."""
    device = context.device(region, node, is_used_now=is_used_now)
    new = spelling.text_for(device.type_text)
    return Port(new, [replace_text(region, node, new)])


def _default(context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling) -> Port:
    """Return the port of a text that is the default of a parameter or of an option, or one of the option's choices."""
    device, imports = context.device_of_default(region, node)
    new = spelling.text_for(device.type_text)
    return Port(new, [*imports, replace_text(region, node, new)])


def _port_torch_device(context: PortContext, region: NodeRegion, call: cst.Call) -> Port:
    """Return the port of `torch.device("cuda")`: the program's device, or the choice of one where it is assigned."""
    known = context.known_device(region, call)
    if known is None and _is_assigned_device(region, call):
        return _choice(context, region, call, DeviceName(f"{CURRENT}()"))
    device = context.device(region, call, is_used_now=False)
    if device.is_text:
        literal = call.args[0].value
        return Port(f"torch.device({device.text})", [replace_text(region, literal, device.text)])
    return Port(device.text, [replace_node(region, call, device.text)])


def _port_assignment(context: PortContext, region: NodeRegion, node: cst.CSTNode, spelling: DeviceSpelling) -> Port:
    """Return the port of a text that is assigned to a device's name: the program chooses its device here."""
    if spelling.is_current and context.known_device(region, node) is None:
        return _choice(context, region, node, DeviceName(f"{CURRENT}().type", is_text=True))
    return _named(context, region, node, spelling, is_used_now=False)


def _choice(context: PortContext, region: NodeRegion, node: cst.CSTNode, chosen: DeviceName) -> Port:
    """Return the port of a fixed device to the choice of the accelerator where there is one."""
    if context.traits.asks_late:
        raise AsksTooEarly
    current, imports = context.library(region, node, CURRENT)
    available, more = context.library(region, node, AVAILABLE)
    host = '"cpu"'
    if not chosen.is_text:
        device, last = context.library(region, node, "torch.device")
        more, host = (*more, *last), f'{device}("cpu")'
    new = f"{chosen.text.replace(CURRENT, current)} if {available}() else {host}"
    return Port(new, [*imports, *more, replace_text(region, node, new)])


def _is_assigned_device(region: NodeRegion, call: cst.Call) -> bool:
    """Return whether an expression is assigned to the name of a device."""
    match region.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target):
            return is_device_name(_last_name(target))
    return False


def _option_names(call: cst.Call) -> list[str]:
    """Return the names of the command-line option that a call defines, as `add_argument` does; empty for others."""
    texts = [one.value for one in call.args if one.keyword is None]
    values = [string_value(one) for one in texts if isinstance(one, cst.SimpleString)]
    return [one for one in values if isinstance(one, str) and one.startswith("-")]


def _last_name(target: cst.CSTNode) -> str:
    """Return the last part of the name that an assignment binds: `device` for `self.device`; empty for another one."""
    match target:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""
