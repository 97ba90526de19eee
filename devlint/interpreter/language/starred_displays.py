"""Assignments of tuple displays with a star to several targets: `b, c, device = *x.shape, x.device`.

The starred iterable may have any number of elements; what stands before and behind it in the display is known all the
same to be the first and the last of what the targets get.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from devlint.domain.objects import Sequence, join_all
from devlint.domain.value import Tuple, Value
from devlint.interpreter.state.frame import Frame


@dataclass(frozen=True, slots=True)
class _Display:
    """The values of a display: those before its first star of unknown length, those behind its last, and the others.

    `starred` stands for each element between the two.
    """

    first: list[Value]
    starred: list[Value]
    last: list[Value]


def has_star(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a tuple display that contains a starred element."""
    return type(node) is cst.Tuple and any(type(one) is cst.StarredElement for one in node.elements)


def assign_display(frame: Frame, targets: cst.Tuple | cst.List, display: cst.Tuple) -> None:
    """Assign the elements of a display with a star to several targets, one of which may have a star too."""
    values = _evaluate(frame, display)
    if not values.starred:
        frame.assign(targets, Tuple(tuple(values.first)))
        return
    nodes = targets.elements
    star = next((i for i, one in enumerate(nodes) if type(one) is cst.StarredElement), None)
    between = join_all(values.starred)
    if star is None:
        count = len(nodes) - len(values.first) - len(values.last)
        parts = [*values.first, *[between] * count, *values.last] if count >= 0 else [between] * len(nodes)
    else:
        behind = len(nodes) - star - 1
        parts = [
            *_facing(values.first, [*values.starred, *values.last[: max(0, len(values.last) - behind)]], star),
            frame.allocate(nodes[star], Sequence(None, join_all([*values.first, *values.starred, *values.last]))),
            *reversed(_facing(values.last[::-1], [*values.first[star:], *values.starred], behind)),
        ]
    for one, part in zip(nodes, parts, strict=True):
        frame.assign(one.value if type(one) is not cst.StarredElement else one, part)


def _facing(known: list[Value], others: list[Value], count: int) -> list[Value]:
    """Return what so many targets get that face known values, and behind these any of others."""
    return [known[i] if i < len(known) else join_all(others) for i in range(count)]


def _evaluate(frame: Frame, display: cst.Tuple) -> _Display:
    """Evaluate the elements of a display in their order; starred iterables of known length are unrolled."""
    first: list[Value] = []
    starred: list[Value] = []
    last: list[Value] = []
    for element in display.elements:
        value = frame.evaluate(element.value)
        found = frame.iterate(value, element.value) if type(element) is cst.StarredElement else None
        if found is not None and found.items is None:
            starred += [*last, found.any]
            last = []
        else:
            (last if starred else first).extend([value] if found is None else found.items or ())
    return _Display(first, starred, last)
