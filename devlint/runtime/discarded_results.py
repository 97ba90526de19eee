"""Runtime checks for tensor transfers, casts and `detach` calls whose result the user's code discards."""

from __future__ import annotations

import ast
import dis
import sys
from functools import lru_cache
from types import CodeType

from devlint.runtime.call_sites import is_library, site_of
from devlint.runtime.device_comparisons import syntax_tree_of
from devlint.runtime.recorder import Observation
from devlint.runtime.session_protocol import SessionProtocol

CAST_OPERATORS = frozenset({"_to_copy", "detach"})
"""Dispatched operators behind the cast methods and `detach`, which devlint does not replace."""
_METHODS = frozenset({"bfloat16", "bool", "byte", "detach", "double", "float", "half", "int", "long", "short", "type"})
"""Tensor methods that return a cast or detached tensor and leave the original as it is."""


def check_discarded_transfer(session: SessionProtocol, how: str, depth: int = 3) -> None:
    """Report the tensor transfer that is being executed if the user's code discards its result.

    `how` is the name of the method that transfers, and `depth` the number of frames between this function and the frame
    that called the method.
    """
    if not session.recorders or session.suspended:
        return
    frame = sys._getframe(depth)
    if not is_library(frame.f_code.co_filename) and frame.f_lasti in _discarding_offsets(frame.f_code):
        message = f"the result of .{how}() is thrown away; .{how}() does not move the tensor itself"
        session.observe(Observation("DEV201", message, site_of(frame)))


def check_discarded_cast(session: SessionProtocol, depth: int) -> None:
    """Report the cast or `detach` of a tensor that is being executed if the user's code discards its result.

    `depth` is the number of frames between this function and the frame that called the method.
    """
    if not session.recorders or session.suspended:
        return
    frame = sys._getframe(depth)
    filename = frame.f_code.co_filename
    if is_library(filename) or frame.f_lasti not in _discarding_offsets(frame.f_code):
        return
    site = site_of(frame)
    how = None if site is None else _discarded_calls(filename).get((site.line, site.column))
    if how is not None:
        message = f"the result of .{how}() is thrown away; the tensor itself stays as it is"
        session.observe(Observation("DEV201", message, site))


@lru_cache(None)
def _discarding_offsets(code: CodeType) -> frozenset[int]:
    """Return the bytecode offsets of the calls in a code object whose result the next instruction pops from the stack.

    The offsets of the inline caches after such a call count too.
    """
    found: set[int] = set()
    call: int | None = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "POP_TOP" and call is not None:
            found.update(range(call, instruction.offset, 2))
        call = instruction.offset if instruction.opname.startswith("CALL") else None
    return frozenset(found)


@lru_cache(None)
def _discarded_calls(filename: str) -> dict[tuple[int, int], str]:
    """Return the names of the cast methods that a file calls as expression statements, keyed by (line, column)."""
    calls = (node.value for node in ast.walk(syntax_tree_of(filename)) if isinstance(node, ast.Expr))
    return {
        (call.lineno, call.col_offset + 1): call.func.attr
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS
    }
