"""Fixes for code that is tied to one accelerator: functions for any accelerator, and checkpoints loaded to the host."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.accelerator_check import call_under_check
from devlint.fixes.call_edits import set_argument
from devlint.fixes.device_names import AVAILABLE
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.semantics.accelerators import Kind, Replacement

BY_KEYWORD: Final = frozenset({"torch.Event", "torch.Stream"})
"""Classes whose first argument is a device, and that take all others by keyword."""


def replace_library_name(region: NodeRegion, node: cst.CSTNode, replacement: Replacement) -> Fix:
    """Return a fix that replaces the name of a function or class at `node`, and keeps the arguments of its call.

    Where the old function does nothing without an accelerator and the new one raises, the call is put under a check.
    Raises NoFix for a replacement that takes other arguments.
    """
    if replacement.kind not in (Kind.FUNCTION, Kind.VALUE) or not re.fullmatch(r"[\w.]+", replacement.by):
        raise NoFix
    if replacement.by == "torch.accelerator.device_index":
        raise NoFix
    call = region.parent(node)
    arguments = call.args if isinstance(call, cst.Call) and call.func is node else ()
    by_keyword = replacement.by in BY_KEYWORD
    if any(one.star or (one.keyword is None) is by_keyword for one in arguments):
        raise NoFix
    name, imported = write_library_name(region, node, replacement.by)
    edits = [*imported, replace_node(region, node, name)]
    if replacement.result_without is not None:
        if not isinstance(call, cst.Call) or call.func is not node:
            raise NoFix
        available, more = write_library_name(region, node, AVAILABLE)
        _, checked = call_under_check(region, call, name, f"{available}()", (), replacement.result_without)
        edits = [*imported, *more, *checked]
    return Fix(f"Write `{name}`", Applicability.UNSAFE, tuple(edits))


def replace_unknown_name(region: NodeRegion, node: cst.CSTNode, replacement: Replacement) -> Fix:
    """Return a fix that writes what replaces a function of CUDA in place of a name that no torch has.

    Raises NoFix for a replacement that takes other arguments.
    """
    if replacement.kind is not Kind.DEVICE_MODULE:
        return replace_library_name(region, node, replace(replacement, result_without=None))  # the old name raises, too
    module, imported = write_library_name(region, node, "torch.get_device_module")
    written = f"{module}().{replacement.by.rpartition('.')[2]}"
    edits = (*imported, replace_node(region, node, written))
    return Fix(f"Write `{written}`", Applicability.UNSAFE, edits)


def correct_member(region: NodeRegion, node: cst.CSTNode, name: str) -> Fix:
    """Return a fix, for display only, that writes another member of the same module. Raises NoFix for no attribute."""
    if not isinstance(node, cst.Attribute):
        raise NoFix
    return Fix(f"Write `{name}`", Applicability.DISPLAY, (replace_node(region, node.attr, name),))


def take_host_without_accelerator(region: NodeRegion, asked: cst.CSTNode, use: cst.CSTNode) -> Fix:
    """Return a fix that takes the host where the call `asked`, which asks for the current accelerator, returns None.

    The fix is safe if nothing but the use that fails gets the result of the call.
    """
    if not isinstance(asked, cst.Call):
        raise NoFix
    above = region.parent(asked)
    device, imported = write_library_name(region, asked, "torch.device")
    written = f'{region.code(asked)} or {device}("cpu")'
    is_whole = isinstance(above, (cst.Assign, cst.AnnAssign, cst.Return, cst.Arg)) and not asked.lpar
    alone = above is use or (isinstance(above, cst.Arg) and region.parent(above) is use)
    edits = (*imported, replace_node(region, asked, written if is_whole else f"({written})"))
    trust = Applicability.SAFE if alone else Applicability.UNSAFE
    return Fix("Fall back to the CPU where there is no accelerator", trust, edits)


def take_current_accelerator(region: NodeRegion, node: cst.CSTNode) -> Fix:
    """Return a fix that writes the type of the current accelerator in place of a string such as "cuda" or "cuda:0".

    Raises NoFix for any other code: only a string may be replaced by one.
    """
    text = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    if not isinstance(text, str) or not re.fullmatch(r"[a-z]+(:\d+)?", text):
        raise NoFix
    function, imported = write_library_name(region, node, "torch.accelerator.current_accelerator")
    _, colon, index = text.partition(":")
    written = f"{function}().type"
    shown = f'f"{{{written}}}:{index}"' if colon else written
    return Fix(f"Write `{shown}`", Applicability.UNSAFE, (*imported, replace_node(region, node, shown)))


def load_to_host(region: NodeRegion, call: cst.CSTNode, position: int) -> Fix:
    """Return a fix that tells a function which loads a checkpoint to load it to the host.

    `position` is that of the argument `map_location`.
    """
    if not isinstance(call, cst.Call):
        raise NoFix
    edit = set_argument(region, call, "map_location", '"cpu"', position)
    return Fix('Pass `map_location="cpu"`', Applicability.UNSAFE, (edit,))
