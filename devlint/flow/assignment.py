"""Binding targets: names, attributes, items, tuples and stars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.flow.iteration import iterate, unpack
from devlint.values.heap import Sequence
from devlint.values.value import Value

if TYPE_CHECKING:
    from devlint.flow.run import Run


def assign(run: Run, target: cst.BaseExpression, value: Value) -> None:
    """Bind a target to a value."""
    from devlint.flow.setting import set_attribute
    from devlint.flow.subscripts import set_item

    if run.engine.observer is not None:
        run.engine.observer.see(run, target, value)
    match target:
        case cst.Name(value=name):
            run.bind(name, value)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            _assign_all(run, elements, value, target)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            set_attribute(run, run.evaluate(owner), name, value, target)
        case cst.Subscript():
            set_item(run, target, value)
        case cst.StarredElement(value=inner):
            assign(run, inner, value)


def _assign_all(run: Run, elements: object, value: Value, node: cst.BaseExpression) -> None:
    targets: list[cst.BaseElement] = list(elements)  # type: ignore[call-overload]
    star = next((i for i, one in enumerate(targets) if isinstance(one, cst.StarredElement)), None)
    if star is None:
        for one, part in zip(targets, unpack(run, value, node, len(targets)), strict=True):
            assign(run, one.value, part)
        return
    found = iterate(run, value, node)
    after = len(targets) - star - 1
    if found.items is None or len(found.items) < len(targets) - 1:
        parts: list[Value] = [found.any] * len(targets)
        parts[star] = run.allocate(targets[star], Sequence(None, found.any))
    else:
        items = found.items
        middle = run.allocate(targets[star], Sequence(items[star : len(items) - after]))
        parts = [*items[:star], middle, *items[len(items) - after :]]
    for one, part in zip(targets, parts, strict=True):
        assign(run, one.value, part)
