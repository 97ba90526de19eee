"""Unknown numbers known by the name that holds them: two questions about one such number go together."""

from __future__ import annotations

from collections.abc import Hashable

import libcst as cst

from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.state.frame import Frame


def named_number(frame: Frame, node: cst.CSTNode) -> Hashable:
    """Return the identity of the number that a name holds; None for any other expression.

    It is the number of one iteration for the variable of a loop, and of one call for a name that the function binds
    once. A name that is bound in other ways has no identity.
    """
    if type(node) is not cst.Name:
        return None
    facts = frame.analysis.facts
    for running in reversed(frame.loops):
        loop = running.node
        if isinstance(loop, cst.For) and node.value in names_bound_by(loop):
            rebound = node.value in facts.names_bound(loop.body)
            return None if rebound else ("counter", loop, node.value, running.iteration)
    if frame.function is None or node.value not in facts.settled_names(frame.function):
        return None
    return "settled", frame.function.node, frame.context, node.value
