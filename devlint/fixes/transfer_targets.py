"""The device and dtype that a transfer call such as `x.to(...)` requests, read from the syntax of the call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.fixes.call_edits import method_name
from devlint.fixes.fix_context import NodeRegion, NoFix

ACCELERATOR_TRANSFERS: Final = ("cuda", "xpu", "npu", "hpu", "ipu")
"""Tensor methods that transfer to an accelerator, each named after the accelerator's device type."""
_DTYPE: Final = re.compile(
    r"(torch\.)?(float|double|half|bfloat|int|long|short|uint|bool|complex|float\d+|bfloat16|int\d+|uint8|complex\d+)$"
    r"|.*\.dtype$|.*dtype$"
)
"""The source of an argument that is a dtype."""


@dataclass(frozen=True, slots=True)
class TransferTarget:
    """The source texts of the device and the dtype that a transfer requests.

    Returns None for a property that the transfer keeps.
    """

    device: str | None
    dtype: str | None = None


def transfer_target(region: NodeRegion, call: cst.CSTNode) -> TransferTarget:
    """Return the source texts of the device and dtype that a call of `.to(...)`, `.cuda(...)` or `.cpu()` requests.

    Raises NoFix for a call whose syntax alone does not tell them.
    """
    name = method_name(call)
    assert isinstance(call, cst.Call)
    if any(one.star for one in call.args):
        raise NoFix
    if name == "cpu":
        return TransferTarget('"cpu"')
    if name in ACCELERATOR_TRANSFERS:
        return TransferTarget(_accelerator_device(region, name, call))
    if name == "to":
        return _to_target(region, call)
    raise NoFix


def _accelerator_device(region: NodeRegion, name: str, call: cst.Call) -> str:
    """Return the source text of the device that a call of `.cuda(...)`, `.xpu(...)` or a similar method requests."""
    devices = [one for one in call.args if one.keyword is None or one.keyword.value == "device"]
    if not devices or (isinstance(devices[0].value, cst.Name) and devices[0].value.value == "None"):
        return f'"{name}"'
    if isinstance(devices[0].value, cst.Integer):
        return f'"{name}:{devices[0].value.value}"'
    return region.code(devices[0].value)


def _to_target(region: NodeRegion, call: cst.Call) -> TransferTarget:
    """Return the source texts of the device and dtype that the arguments of a call of `.to(...)` request.

    Raises NoFix if they request neither.
    """
    device = dtype = None
    for position, argument in enumerate(call.args):
        text = region.code(argument.value)
        keyword = argument.keyword.value if argument.keyword is not None else None
        if keyword in ("memory_format", "other", "tensor"):
            raise NoFix
        if keyword == "dtype" or (keyword is None and is_dtype(text)):
            dtype = text
        elif keyword == "device" or (keyword is None and position == 0):
            device = text
        elif keyword is None and position > 1:
            raise NoFix
    if device is None and dtype is None:
        raise NoFix
    return TransferTarget(device, dtype)


def is_dtype(text: str) -> bool:
    """Return whether the source text of an argument looks like a dtype: `torch.float32`, `x.dtype`."""
    return _DTYPE.fullmatch(text) is not None
