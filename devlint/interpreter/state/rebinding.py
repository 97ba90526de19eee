"""Strong updates: the replacement of the value that a name or an attribute holds."""

from __future__ import annotations

import libcst as cst

from devlint.domain.value import Ref, Value
from devlint.interpreter.state.frame import Frame


def rebind(frame: Frame, node: cst.BaseExpression, before: Value, after: Value) -> None:
    """Bind the name or attribute at the syntax node `node` to the value `after` in place of `before`.

    The new value is a more precise description of the old one, or the result of a change in place.
    """
    if after is before or after == before:
        return
    if isinstance(node, cst.Name):
        frame.bind(node.value, after)
    elif isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        reference = frame.lookup(node.value.value)
        owner = frame.instance(reference)
        if owner is not None and isinstance(reference, Ref):
            name = node.attr.value
            frame.put(reference.address, owner.with_attribute(name, after, owner.registered.get(name)))


def replace_value(frame: Frame, node: cst.BaseExpression, before: Value, after: Value) -> None:
    """Replace the value `before` by `after`, the result of an in-place operation on it.

    It is replaced in the name or attribute at `node`, and in all local names that hold it.
    """
    rebind(frame, node, before, after)
    for name, value in list(frame.state.names.items()):
        if value is before:
            frame.bind(name, after)
