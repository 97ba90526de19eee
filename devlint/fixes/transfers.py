"""Transfers as they are written: what they ask for, taken apart so that a factory can be asked for it instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.fixes.calls import method_name
from devlint.fixes.sheet import NodeRegion, NoFix

ACCELERATORS: Final = ("cuda", "xpu", "npu", "hpu", "ipu")
_DTYPE: Final = re.compile(
    r"(torch\.)?(float|double|half|bfloat|int|long|short|uint|bool|complex|float\d+|bfloat16|int\d+|uint8|complex\d+)$"
    r"|.*\.dtype$|.*dtype$"
)


@dataclass(frozen=True, slots=True)
class Target:
    """The device and the dtype that a transfer asks for, as the program writes them; None for what it leaves."""

    device: str | None
    dtype: str | None = None


def target_of(part: NodeRegion, call: cst.CSTNode) -> Target:
    """What `.to(...)`, `.cuda(...)` or `.cpu()` asks for. Raises Unfit for what cannot be told from the call alone."""
    name = method_name(call)
    assert isinstance(call, cst.Call)
    if any(one.star for one in call.args):
        raise NoFix
    if name == "cpu":
        return Target('"cpu"')
    if name in ACCELERATORS:
        return Target(_accelerator(part, name, call))
    if name == "to":
        return _to(part, call)
    raise NoFix


def _accelerator(part: NodeRegion, name: str, call: cst.Call) -> str:
    given = [one for one in call.args if one.keyword is None or one.keyword.value == "device"]
    if not given or (isinstance(given[0].value, cst.Name) and given[0].value.value == "None"):
        return f'"{name}"'
    if isinstance(given[0].value, cst.Integer):
        return f'"{name}:{given[0].value.value}"'
    return part.code(given[0].value)


def _to(part: NodeRegion, call: cst.Call) -> Target:
    device = dtype = None
    for position, argument in enumerate(call.args):
        text = part.code(argument.value)
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
    return Target(device, dtype)


def is_dtype(text: str) -> bool:
    """Whether an argument reads as a dtype: `torch.float32`, `x.dtype`."""
    return _DTYPE.fullmatch(text) is not None
