"""A transfer whose result is thrown away: the next thing Python does with it is to drop it."""

from __future__ import annotations

import dis
import sys
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING

from devlint.runtime.recorder import Observation
from devlint.runtime.sites import is_library, site_of

if TYPE_CHECKING:
    from devlint.runtime.session import Session


@lru_cache(None)
def _statements(code: CodeType) -> frozenset[int]:
    """The offsets of calls whose result is popped at once, with their inline caches."""
    found: set[int] = set()
    call: int | None = None
    for instruction in dis.get_instructions(code):
        if instruction.opname == "POP_TOP" and call is not None:
            found.update(range(call, instruction.offset, 2))
        call = instruction.offset if instruction.opname.startswith("CALL") else None
    return frozenset(found)


def look_for_discard(session: Session, how: str, depth: int = 3) -> None:
    """Report the call that is being made if the user's line drops its result."""
    if not session.recorders or session.quiet:
        return
    frame = sys._getframe(depth)
    if is_library(frame.f_code.co_filename):
        return
    if frame.f_lasti in _statements(frame.f_code):
        message = f"the result of .{how}() is thrown away; .{how}() does not move the tensor itself"
        session.observe(Observation("DEV201", message, site_of(frame)))
