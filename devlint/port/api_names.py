"""The port of functions and classes of `torch.cuda` to what replaces them on any accelerator, as the table tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.accelerator_check import call_under_check
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.amp_calls import port_amp
from devlint.port.cuda_uses import LeftForHuman, LeftInGuard, Port, WithoutEquivalent
from devlint.port.device_indexes import is_index
from devlint.port.old_tensor_types import port_tensor_type
from devlint.port.port_context import PortContext, plain_arguments
from devlint.port.seeds import is_seed, port_seed
from devlint.port.streams import STREAMS, is_plain_use_of_stream, port_stream
from devlint.semantics.accelerators import Kind, Replacement, reason_without_equivalent, replacements_of, version_text
from devlint.syntax.tree_walk import descend

_ACTIONS: Final = frozenset(
    "synchronize empty_cache set_device reset_peak_memory_stats reset_accumulated_memory_stats"
    " reset_max_memory_allocated reset_max_memory_cached".split()
)
"""Functions that programs call for what they do: without an accelerator there is nothing to do."""
_ANY_ERROR: Final = frozenset({"Exception", "BaseException"})
"""The classes of exceptions that catch what any library function raises."""
_OF_TENSORS: Final = frozenset({"shape", "stride", "numel", "dtype", "ndim", "element_size", "is_contiguous"})
"""Attributes that a tensor has and a module or a configuration has not."""
_SAME_FLAGS: Final = frozenset({"enable_timing"})
"""The flags of an event of CUDA that one of torch takes and does not ignore."""


def port_name(context: PortContext, region: NodeRegion, node: cst.CSTNode, name: str) -> Port:
    """Return the port of one mention of a name of `torch.cuda` or of another module for CUDA only."""
    found = replacements_of(name)
    if not found:
        reason = reason_without_equivalent(name)
        if reason is not None:
            raise WithoutEquivalent(reason)
        raise LeftForHuman(f"nothing is known that replaces `{name}`")
    usable = replacements_of(name, context.options.min_torch)
    if not usable:
        raise LeftForHuman(
            f"`{found[0].by}` came with torch {version_text(found[0].since)}; raise --min-torch to use it"
        )
    above = region.parent(node)
    call = above if isinstance(above, cst.Call) and above.func is node else None
    if isinstance(above, cst.Attribute) and above.value is node:
        raise LeftForHuman(f"an attribute of `{name}` is used")
    return _port(context, region, node, call, usable[0])


def _port(context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call | None, by: Replacement) -> Port:
    """Return the port of a mention of a name, given its replacement and the call of the name, if it is called."""
    if is_seed(by.name):
        return port_seed(context, region, call, by)
    if by.name == "torch.cuda.Stream" and any(isinstance(one, cst.Annotation) for one in region.ancestors(node)):
        text, imports = context.library(region, node, by.by)
        return Port(text, [*imports, replace_node(region, node, text)])
    match by.kind:
        case Kind.TENSOR_TYPE:
            return port_tensor_type(context, region, node, call, by)
        case Kind.DEVICE_TYPE:
            return port_amp(context, region, node, call, by)
        case Kind.VALUE:
            text, imports = context.library(region, node, by.by)
            return Port(text, [*imports, replace_node(region, node, text)])
        case Kind.FUNCTION if by.name == "torch.cuda.is_available":
            raise LeftInGuard("the check decides on code that is for CUDA")
        case Kind.FUNCTION | Kind.ARGUMENT if by.name in STREAMS:
            return port_stream(context, region, node, call, by.name)
        case Kind.FUNCTION if by.name != "torch.cuda.set_stream":
            return _port_function(context, region, node, call, by)
        case Kind.DEVICE_MODULE if call is not None:
            return _port_device_module(context, region, node, call, by)
    raise LeftForHuman(f"what replaces it ({by.by.replace('`', '')}) does not take all that it takes")


def _port_function(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call | None, by: Replacement
) -> Port:
    """Return the port of a function or class to another one that takes the same arguments."""
    if call is None:
        if isinstance(region.parent(node), cst.Annotation) or _is_read_only_class(by.name):
            text, imports = context.library(region, node, by.by)
            return Port(text, [*imports, replace_node(region, node, text)])
        raise LeftForHuman("it is not called here, but passed on")
    plain_arguments(region, call)
    _check_arguments(context, region, call, by)
    text, imports = context.library(region, node, by.by)
    arguments = [_without_keyword(region, one) for one in call.args if _is_device_keyword(one)]
    device = _device_of_tensor(region, call, by)
    if device is not None:
        end = region.span_with_parentheses(device)[1]
        arguments.append(region.context.edit(end, end, ".index"))
    if by.result_without is not None or (_is_action(by.name) and isinstance(region.parent(call), cst.Expr)):
        if by.result_without is not None:
            context.refuse_early(region, call)
        available, more = context.available(region, call)
        result = by.result_without or "None"
        shown, checked = call_under_check(region, call, text, available, arguments, result)
        return Port(shown, [*imports, *more, *checked])
    _refuse_handled(region, node, "RuntimeError")
    return Port(f"{text}(...)" if call.args else f"{text}()", [*imports, replace_node(region, node, text), *arguments])


def _is_action(name: str) -> bool:
    """Return whether programs call a function for what it does: without an accelerator there is nothing to do."""
    return name.rpartition(".")[2] in _ACTIONS


def _refuse_handled(region: NodeRegion, node: cst.CSTNode, raised: str) -> None:
    """Raise LeftInGuard where the program handles the error of a torch without CUDA, and not the one of the new name.

    `torch.cuda` raises an AssertionError there. `raised` is the class of what replaces it.
    """
    below = node
    for above in region.ancestors(node):
        match above:
            case cst.Try(body=body, handlers=handlers) if body is below:
                types = [one.type for one in handlers]
                caught = {name for one in types if one is not None for name in _class_names(one)}
                if "AssertionError" in caught and None not in types and caught.isdisjoint({raised, *_ANY_ERROR}):
                    raise LeftInGuard("the code handles the error of a torch without CUDA")
        below = above


def _class_names(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names of classes in the expression after `except`."""
    return (one.value for one in (node, *descend(node)) if isinstance(one, cst.Name))


def _port_device_module(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call, by: Replacement
) -> Port:
    """Return the port of a function to that of the same name in the module of the program's device."""
    if by.result_without is not None:
        short = by.name.rpartition(".")[2]
        gives = "does nothing" if by.result_without == "None" else f"gives {by.result_without}"
        raise LeftForHuman(f"without CUDA `{by.name}` {gives}, and the module of another device may lack `{short}`")
    _refuse_handled(region, node, "AttributeError")
    device = context.device(region, node)
    module, imports = context.library(region, node, "torch.get_device_module")
    text = f"{module}({device.text}).{by.by.rpartition('.')[2]}"
    return Port(f"{text}(...)", [*imports, replace_node(region, node, text)])


def _check_arguments(context: PortContext, region: NodeRegion, call: cst.Call, by: Replacement) -> None:
    """Raise LeftForHuman for a call whose arguments the replacement does not take in the same way."""
    keywords = [one.keyword.value for one in call.args if one.keyword is not None]
    positional = [one for one in call.args if one.keyword is None]
    if by.name == "torch.cuda.Event":
        if positional:
            raise LeftForHuman("the flags are passed by position")
        if not _SAME_FLAGS.issuperset(keywords):
            raise LeftForHuman("`torch.Event` ignores the other flags of an event of CUDA")
        return
    if len(call.args) > 1 or any(one != "device" for one in keywords):
        raise LeftForHuman(f"`{by.by}` has other arguments")
    # `set_device` and what replaces it take the same: an index, a device with one, and do nothing for a negative index.
    known = by.name != "torch.cuda.device" or all(is_index(context, region, one.value) for one in call.args)
    if not known and _device_of_tensor(region, call, by) is None:
        raise LeftForHuman(f"`{by.by}` takes an index, and this may be a device or None")
    if by.name == "torch.cuda.current_stream" and not is_plain_use_of_stream(region, call):
        raise LeftForHuman("what is done with the stream may need one of CUDA")


def _device_of_tensor(region: NodeRegion, call: cst.Call, by: Replacement) -> cst.Attribute | None:
    """Return the argument of `torch.cuda.device` if it surely is the device of a tensor; None for any other one.

    A parameter or variable is a tensor if its function asks for its shape, its strides or its dtype.
    """
    if by.name != "torch.cuda.device" or len(call.args) != 1:
        return None
    function = region.enclosing_function(call)
    match call.args[0].value:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="device")) as device if function is not None:
            for one in descend(function.body):
                match one:
                    case cst.Attribute(value=cst.Name(value=other), attr=cst.Name(value=asked)):
                        if other == name and asked in _OF_TENSORS:
                            return device
    return None


def _is_device_keyword(argument: cst.Arg) -> bool:
    """Return whether an argument is a device that is passed by keyword."""
    return argument.keyword is not None and argument.keyword.value == "device"


def _without_keyword(region: NodeRegion, argument: cst.Arg) -> Edit:
    """Return the edit that passes a keyword argument by position."""
    start, end = region.span(argument)[0], region.span_with_parentheses(argument.value)[0]
    return region.context.edit(start, end, "")


def _is_read_only_class(name: str) -> bool:
    """Return whether a name is that of an exception class, which programs name and seldom call."""
    return name.endswith("Error")
