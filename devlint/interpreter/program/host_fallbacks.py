"""Calls that a program tries with tensors wherever they are, before it makes them again with copies on the host."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo
from devlint.syntax.tree_walk import descend, dotted_name


def is_retried_on_host(node: cst.Try | cst.TryStar, function: FunctionInfo | None) -> bool:
    """Return whether the body of a `try` statement is one call that the code around makes again with `.cpu()` copies.

    The handlers raise nothing, so that the first call is allowed to fail.
    """
    if len(node.body.body) > 2 or any(isinstance(part, cst.Raise) for one in node.handlers for part in descend(one)):
        return False
    tried = {name for call, name in _calls_in(node.body) if not _copies_to_host(call)}
    if not tried:
        return False
    others = [node] if function is None else [function.node]
    inside = set(descend(node.body))
    return any(
        name in tried and call not in inside and _copies_to_host(call)
        for around in others
        for call, name in _calls_in(around)
    )


def _calls_in(node: cst.CSTNode) -> Iterator[tuple[cst.Call, str]]:
    """Yield the calls in some code that pass arguments, each with the dotted name that it calls."""
    for one in descend(node):
        if isinstance(one, cst.Call) and one.args:
            name = dotted_name(one.func)
            if name is not None:
                yield one, name


def _copies_to_host(call: cst.Call) -> bool:
    """Return whether an argument of a call is a copy on the host, made by `.cpu()`."""
    return any(
        isinstance(one, cst.Attribute) and one.attr.value == "cpu" for part in call.args for one in descend(part)
    )
