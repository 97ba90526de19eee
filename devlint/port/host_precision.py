"""Mixed precision on the host: what was meant for CUDA did nothing there, so the port lets it do nothing there."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.call_edits import find_argument
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman

_ENABLED: Final = {
    "torch.cuda.amp.autocast": 0,
    "torch.cuda.amp.GradScaler": 4,
    "torch.autocast": 2,
    "torch.amp.autocast": 2,
    "torch.amp.GradScaler": 5,
}
"""The functions and classes that take `enabled`, each with the position of the argument."""


def has_switch(function: str) -> bool:
    """Return whether a function or class of mixed precision takes `enabled`."""
    return function in _ENABLED


def host_condition(device_type: str) -> str:
    """Return the source text of the condition that a device is not the host, given the text of its type."""
    return f'{device_type} != "cpu"'


def switched_off_on_host(region: NodeRegion, call: cst.Call, function: str, device_type: str) -> list[Edit]:
    """Return the edits by which a call with arguments enables mixed precision only where the device is not the host.

    `function` is the full name of what is called. Raises LeftForHuman where what the call passes cannot be extended.
    """
    condition = host_condition(device_type)
    passed = find_argument(call, "enabled", _ENABLED[function])
    if passed is None:
        end = region.span(call.args[-1])[1]
        return [region.context.edit(end, end, f", enabled={condition}")]
    match passed.value:
        case cst.Name(value="False"):
            return []
        case cst.Name(value="True"):
            return [replace_node(region, passed.value, condition)]
        case cst.IfExp() | cst.Lambda() | cst.NamedExpr() | cst.BooleanOperation(operator=cst.Or()) as value:
            if not value.lpar:
                raise LeftForHuman("its `enabled` is a choice, and on the host it must be off as it was")
    end = region.span_with_parentheses(passed.value)[1]
    return [region.context.edit(end, end, f" and {condition}")]
