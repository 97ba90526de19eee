"""The places in a file where CUDA-only API is used: names of `torch.cuda`, `.cuda()`, texts such as `"cuda:0"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

import libcst as cst

from devlint.fixes.fix_context import FixContext, NodeRegion
from devlint.fixes.torch_names import TorchNames
from devlint.port.device_spellings import DeviceSpelling, device_spelling
from devlint.semantics.accelerators import canonical_name, reason_without_equivalent
from devlint.syntax.source import SourceError
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import children, dotted_name

MENTIONS_CUDA: Final = re.compile(r"cuda|nccl|cpp_extension|cudnn")
"""Text that a file has if it uses CUDA-only API."""
_TENSOR_TYPE: Final = re.compile(r"torch\.cuda\.\w*Tensor$")


class SiteKind(Enum):
    """What sort of use of CUDA-only API a place is."""

    NAME = "name"
    TRANSFER = "transfer"
    TEXT = "text"
    BACKEND = "backend"
    TENSOR_TYPE = "tensor type"
    TENSOR_QUERY = "tensor query"


@dataclass(frozen=True, slots=True)
class UseSite:
    """One use of CUDA-only API: its node, and the full name that it mentions, where it mentions one.

    `spelling` is that of a text which names a device.
    """

    kind: SiteKind
    region: NodeRegion
    node: cst.CSTNode
    name: str = ""
    spelling: DeviceSpelling | None = None


def use_sites(context: FixContext, names: TorchNames) -> Iterator[UseSite]:
    """Yield the uses of CUDA-only API in a file, in the order of the text."""
    aliases = {one.name for one in context.imports if one.module.startswith(("torch.cuda", "torch.backends"))}
    aliases |= {one.name for one in context.imports if one.module == "torch" and one.attribute in ("cuda", "backends")}
    for statement in context.index.statements:
        if not MENTIONS_CUDA.search(statement.text) and not aliases & statement.mentions:
            continue
        try:
            region = context.statement_region(statement)
            tree = statement.tree
        except SourceError:
            continue
        yield from _sites_in(region, names, tree)


def _sites_in(region: NodeRegion, names: TorchNames, node: cst.CSTNode) -> Iterator[UseSite]:
    """Yield the uses of CUDA-only API in a node and below it."""
    match node:
        case cst.Import() | cst.ImportFrom():
            return
        case cst.Attribute(attr=cst.Name(value="is_cuda")):
            yield UseSite(SiteKind.TENSOR_QUERY, region, node)
        case cst.Attribute() | cst.Name():
            name = canonical_name(names.full_name(region, node))
            if is_cuda_only(name):
                yield UseSite(SiteKind.NAME, region, node, name)
                return
            if dotted_name(node) is not None:
                return
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="cuda"))):
            if not names.full_name(region, node.func).startswith("torch."):
                yield UseSite(SiteKind.TRANSFER, region, node)
        case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()):
            return
        case cst.SimpleString() | cst.FormattedString():
            yield from _text_site(region, node)
        case cst.Arg(value=value):
            yield from _sites_in(region, names, value)
            return
        case cst.Param(default=default, annotation=annotation):
            for part in (annotation, default):
                if part is not None:
                    yield from _sites_in(region, names, part)
            return
    for child in children(node):
        yield from _sites_in(region, names, child)


def _text_site(region: NodeRegion, node: cst.SimpleString | cst.FormattedString) -> Iterator[UseSite]:
    """Yield the use of CUDA-only API that a string literal is, if it is one."""
    spelling = device_spelling(node)
    if spelling is not None:
        yield UseSite(SiteKind.TEXT, region, node, spelling=spelling)
        return
    text = string_value(node) if isinstance(node, cst.SimpleString) else None
    if text == "nccl":
        yield UseSite(SiteKind.BACKEND, region, node)
    elif isinstance(text, str) and _TENSOR_TYPE.match(text):
        yield UseSite(SiteKind.TENSOR_TYPE, region, node, text)


def is_cuda_only(name: str) -> bool:
    """Return whether a full name is that of CUDA-only API."""
    return name == "torch.cuda" or name.startswith("torch.cuda.") or reason_without_equivalent(name) is not None
