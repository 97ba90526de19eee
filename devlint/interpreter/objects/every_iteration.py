"""Changes that a loop makes to each element: whether the code being run is run in every iteration of its loop."""

from __future__ import annotations

import libcst as cst

from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend


def is_in_every_iteration(frame: Frame) -> bool:
    """Return whether the code being run is run in every iteration of the innermost loop, for each of its elements.

    That is not so under a test inside the loop, nor where the loop may end before its last element.
    """
    home = next((one for one in (frame, *frame.callers()) if one.loops), None)
    if home is None:
        return False
    loop = home.loops[-1]
    return loop.loop.path_condition == frame.state.path_condition and not any(
        isinstance(part, (cst.Break, cst.Return, cst.Raise)) for part in descend(loop.node)
    )
