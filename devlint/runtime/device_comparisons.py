"""Runtime checks for device comparisons that are never true, such as `x.device == "cuda"` or `cuda:0` with `cuda`."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import FrameType

import torch

from devlint.runtime.call_sites import Site, is_library
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol


@lru_cache(None)
def syntax_tree_of(filename: str) -> ast.Module:
    """Return the syntax tree of a source file, or an empty tree if the source cannot be read or parsed."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


@lru_cache(None)
def _comparisons(filename: str) -> dict[int, list[tuple[ast.Compare, str]]]:
    """Return the `==` and `!=` comparisons of a `.device` attribute with a literal device in a file, by line number.

    Each comparison is its syntax node with the text of the literal; a literal that is a string is in quotes.
    """
    found: dict[int, list[tuple[ast.Compare, str]]] = {}
    for node in ast.walk(syntax_tree_of(filename)):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        sides = (node.left, node.comparators[0])
        named = [side for side in sides if isinstance(side, ast.Attribute) and side.attr == "device"]
        written = [text for side in sides if (text := _literal_device(side)) is not None]
        if named and written:
            found.setdefault(node.lineno, []).append((node, written[0]))
    return found


def _literal_device(node: ast.expr) -> str | None:
    """Return the text of an expression that spells out a device, or None for any other expression.

    `torch.device("cuda")` gives `cuda`; a plain string gives its text in quotes.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"'{node.value}'"
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.device", "device") and len(node.args) == 1:
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return argument.value
    return None


def check_device_comparison(session: SessionProtocol, device: torch.device, frame: FrameType | None) -> None:
    """Report the source comparison for which a tensor's `device` is being read, if that comparison is never true.

    `device` is the value that was read, and `frame` the stack frame that reads it.
    """
    for _ in range(2):  # the frame that reads the device, and its caller if a property reads it
        if frame is None or is_library(frame.f_code.co_filename):
            return
        comparisons = _comparisons(frame.f_code.co_filename)
        for node, written in comparisons.get(frame.f_lineno, ()) if comparisons else ():
            if _never_equal(device, written):
                message = f"{device} is compared with {written}, which it never equals"
                site = Site(
                    frame.f_code.co_filename,
                    node.lineno,
                    frame.f_code.co_name,
                    node.col_offset + 1,
                    node.end_lineno or node.lineno,
                    (node.end_col_offset or node.col_offset) + 1,
                )
                session.observe(Observation("DEV205", message, site))
                return
        frame = frame.f_back


def _never_equal(device: torch.device, written: str) -> bool:
    """Return whether a device has the type that a device literal names and still can never equal the literal.

    A device never equals a string, and `cuda:0` never equals `torch.device("cuda")`, which has no index. `written` is
    the literal as text, in quotes if it is a string.
    """
    if written.startswith("'"):
        return written.strip("'").partition(":")[0] == device.type
    return device.type == written and device.index is not None
