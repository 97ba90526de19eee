"""Comparisons of devices that cannot come out as meant: `x.device == "cuda"`, `cuda:0` against `cuda`."""

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
    """The syntax tree of a file that ran; an empty one where its text cannot be had."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return ast.Module([], [])


@lru_cache(None)
def _comparisons(filename: str) -> dict[int, list[tuple[ast.Compare, str]]]:
    """The comparisons of something's `.device` with a device written out, by line."""
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
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"'{node.value}'"
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.device", "device") and len(node.args) == 1:
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return argument.value
    return None


def check_device_comparison(session: SessionProtocol, device: torch.device, frame: FrameType | None) -> None:
    """A tensor's device is read: report the comparison it is read for, if that one is never true."""
    for _ in range(2):  # the reading frame, and the one that called it through a property
        if frame is None or is_library(frame.f_code.co_filename):
            return
        for node, written in _comparisons(frame.f_code.co_filename).get(frame.f_lineno, ()):
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
    """A device never equals a string, nor a device of its own type that names no index."""
    if written.startswith("'"):
        return written.strip("'").partition(":")[0] == device.type
    return device.type == written and device.index is not None
