"""What a method does to the attributes of its object: which it reads and which it binds, in the order that happens."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.syntax.walk import children


def uses_of_self(node: cst.CSTNode) -> Iterator[tuple[str, bool]]:
    """The attributes of `self` that a method reads (False) and binds (True), in the order that happens."""
    match node:
        case cst.FunctionDef() | cst.ClassDef() | cst.Lambda():
            return
        case cst.Assign(targets=targets, value=value):
            yield from uses_of_self(value)
            for one in targets:
                yield from _uses_in_target(one.target)
        case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
            yield from uses_of_self(value)
            yield from _uses_in_target(target)
        case cst.AugAssign(target=target, value=value):
            yield from uses_of_self(target)
            yield from uses_of_self(value)
            yield from _uses_in_target(target)
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            yield name, False
        case _:
            for child in children(node):
                yield from uses_of_self(child)


def _uses_in_target(target: cst.BaseExpression) -> Iterator[tuple[str, bool]]:
    match target:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            yield name, True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _uses_in_target(element.value)
        case _:
            yield from uses_of_self(target)
