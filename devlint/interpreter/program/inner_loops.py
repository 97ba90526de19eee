"""Loops within loops: what one iteration of an outer loop pays once for many iterations of an inner one."""

from __future__ import annotations

from functools import lru_cache

import libcst as cst

from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend, dotted_name


@lru_cache(maxsize=1024)
def pays_for_inner_loop(loop: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a loop's body runs once for all the iterations of an inner loop, which it is not in.

    An inner loop counts if it repeats a computation: a `while`, a `for` over a range of unknown length, or a loop that
    runs a backward pass. A loop over the entries of a container may be a line of bookkeeping and does not count.
    """
    around = path_to(loop, node)
    inner = (one for one in descend(loop, into_functions=False) if isinstance(one, (cst.For, cst.While)))
    return any(one not in around and _repeats_computation(one) for one in inner)


def _repeats_computation(loop: cst.For | cst.While) -> bool:
    """Return whether a loop runs a computation an unknown number of times."""
    calls = [one for one in descend(loop.body) if isinstance(one, cst.Call)]
    if any(isinstance(one.func, cst.Attribute) and one.func.attr.value == "backward" for one in calls):
        return True
    return bool(calls) and (isinstance(loop, cst.While) or _is_over_unknown_range(loop.iter))


def _is_over_unknown_range(iterated: cst.BaseExpression) -> bool:
    """Return whether an iterated expression is a range, written with anything but numbers, or wraps such a range."""
    return any(
        isinstance(one, cst.Call)
        and dotted_name(one.func) == "range"
        and not all(isinstance(each.value, cst.Integer) for each in one.args)
        for one in (iterated, *descend(iterated))
    )
