"""What to write instead, in the program's own names."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.placement import Place
from devlint.domain.torch_names import CHAINED_METHODS
from devlint.explain.places import place_text
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend

LONGEST: Final = 60
"""Characters of source that advice quotes: it is there to be copied."""


def variable_text(place: Place) -> str | None:
    """The source of a place that stands for a variable (`x`, `self.pe`, `batch["x"]`); None for any other expression.

    A chain of transfers stands for the variable it begins with.
    """
    node = variable_node(place)
    return place_text(replace(place, node=node), LONGEST) if node is not None else None


def variable_node(place: Place) -> cst.Name | cst.Attribute | cst.Subscript | None:
    """The node of that variable."""
    node = place.node
    while (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in CHAINED_METHODS
    ):
        node = node.func.value
    return node if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) else None


def collecting_statement(loop: Place, name: str, moved: Place) -> str | None:
    """The statement that does for all what `moved` does for the loop's variable; None where there is no such one."""
    node = _for_statement(loop)
    if node is None or name not in _names(node.target):
        return None
    source = place_text(replace(loop, node=node.iter), LONGEST)
    target = place_text(replace(loop, node=node.target), LONGEST)
    each = place_text(moved, LONGEST)
    match node.iter:
        case cst.Call(func=cst.Attribute(value=cst.Name() | cst.Attribute() as owner, attr=cst.Name(value="items"))):
            key = target.partition(",")[0]
            return f"{place_text(replace(loop, node=owner), LONGEST)} = {{{key}: {each} for {target} in {source}}}"
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="parameters" | "buffers"))):
            return f"{place_text(replace(loop, node=owner), LONGEST)}.{each.rpartition(name + '.')[2]}"
        case cst.Name() | cst.Attribute():
            return f"{source} = [{each} for {target} in {source}]" if target == name else None
    return None


def is_single_statement_loop(loop: Place) -> bool:
    """Whether a loop does one thing only, as a loop that measures does."""
    match _loop_statement(loop):
        case cst.For(body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[_])])):
            return True
    return False


def places_in_loop(loop: Place, *places: Place) -> list[Place]:
    """Those of the places that are written inside a loop (not only run by it), in the order of the text."""
    statement = _loop_statement(loop)
    nodes = {place.node: place for place in places}
    return [nodes[one] for one in descend(statement) if one in nodes] if statement is not None else []


def is_expected_to_fail(place: Place) -> bool:
    """Whether a place stands in `with pytest.raises(...)` or a relative of it."""
    if not isinstance(place.unit, Statement):
        return False
    tree = place.unit.tree
    blocks = (one for one in (tree, *descend(tree)) if isinstance(one, cst.With) and _asserts_failure(one))
    return any(one is place.node for block in blocks for one in descend(block.body))


def _asserts_failure(block: cst.With) -> bool:
    for item in block.items:
        match item.item:
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
                if name in ("raises", "assertRaises", "assertRaisesRegex"):
                    return True
    return False


def _for_statement(loop: Place) -> cst.For | None:
    statement = _loop_statement(loop)
    return statement if isinstance(statement, cst.For) else None


def _loop_statement(loop: Place) -> cst.For | cst.While | None:
    """The statement that stands at a place, or whose head (the target, or the test) does."""
    if isinstance(loop.node, (cst.For, cst.While)):
        return loop.node
    if not isinstance(loop.unit, Statement):
        return None
    for one in (loop.unit.tree, *descend(loop.unit.tree)):
        match one:
            case cst.For(target=head) | cst.While(test=head) if head is loop.node:
                return one
    return None


def _names(target: cst.BaseExpression) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _names(element.value)}
    return set()
