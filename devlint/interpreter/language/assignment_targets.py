"""Handlers of assignment targets: names, starred targets (`*rest`), tuples and lists."""

from __future__ import annotations

import libcst as cst

from devlint.domain.objects import Sequence
from devlint.domain.value import Value
from devlint.interpreter.language.iteration_protocol import unpack
from devlint.interpreter.state.frame import Frame, assigns


@assigns(cst.Name)
def assign_name(frame: Frame, node: cst.Name, value: Value) -> None:
    """Bind a value to the name that is the target of an assignment (`x` in `x = value`)."""
    frame.bind(node.value, value)


@assigns(cst.StarredElement)
def assign_starred(frame: Frame, node: cst.StarredElement, value: Value) -> None:
    """Assign the list of elements that fall to a starred target (`*target`) to the name inside the star.

    `assign_all` has made the list.
    """
    frame.assign(node.value, value)


@assigns(cst.Tuple, cst.List)
def assign_all(frame: Frame, node: cst.Tuple | cst.List, value: Value) -> None:
    """Assign the elements of a value to several targets (`first, *others, last = value`)."""
    targets = node.elements
    star = next((i for i, one in enumerate(targets) if type(one) is cst.StarredElement), None)
    if star is None:
        for one, part in zip(targets, unpack(frame, value, node, len(targets)), strict=True):
            frame.assign(one.value, part)
        return
    found = frame.iterate(value, node)
    after = len(targets) - star - 1
    if found.items is None or len(found.items) < len(targets) - 1:
        parts: list[Value] = [found.any] * len(targets)
        parts[star] = frame.allocate(targets[star], Sequence(None, found.any))
    else:
        items = found.items
        middle = frame.allocate(targets[star], Sequence(items[star : len(items) - after]))
        parts = [*items[:star], middle, *items[len(items) - after :]]
    for one, part in zip(targets, parts, strict=True):
        frame.assign(one.value, part)
