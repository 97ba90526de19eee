"""Code that findings suggest in place of the reported code, written with the variable names of the analysed program."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import libcst as cst

from devlint.domain.dtype import promotion_category
from devlint.domain.placement import Place, Scope
from devlint.domain.torch_names import CAST_METHODS, CHAINED_METHODS
from devlint.explain.place_texts import MAX_QUOTED_LENGTH, place_text, text_with_suffix
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend

MAX_SUGGESTION_LENGTH: Final = 60
"""The number of source characters that a suggestion quotes: more than a message, because readers copy suggestions."""


CAST_CALLS: Final = {"float32": ".float()", "int64": ".long()", "float16": ".half()", "float64": ".double()"}
"""Tensor methods that cast to one dtype, by the name of the dtype."""


def cast_call(dtype: str) -> str:
    """Return the text of a method call that casts a tensor to a dtype: `.float()`, `.to(torch.bfloat16)`."""
    return CAST_CALLS.get(dtype, f".to(torch.{dtype})")


def without_cast(place: Place, dtype: str) -> Place:
    """Return the place of what an expression casts, `x` of `x.half()`, where a cast to `dtype` can replace that cast.

    Both must be floating, or both integral: else the cast may change the values, and is meant. The place of another
    expression is returned as it is.
    """
    match place.node:
        case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=method)), args=[]) if (
            method in CAST_METHODS and promotion_category(CAST_METHODS[method]) == promotion_category(dtype)
        ):
            return replace(place, node=receiver)
    return place


def cast_text(place: Place, dtype: str | None) -> str:
    """Return the source text of an expression cast to a dtype, in which a wrong cast is replaced: `x.float()`."""
    wanted = dtype or "float32"
    return text_with_suffix(without_cast(place, wanted), cast_call(wanted), MAX_SUGGESTION_LENGTH)


def assigned_text(target: Place) -> str:
    """Return the source text of what a statement assigns to a target, dots if that is long or not known."""
    unit, node = target.unit, target.node
    path = path_to(unit.tree, node) if isinstance(unit, Statement) and isinstance(node, cst.CSTNode) else []
    for one in reversed(path):
        if isinstance(one, (cst.Assign, cst.AnnAssign)) and one.value is not None:
            text = place_text(replace(target, node=one.value), MAX_SUGGESTION_LENGTH)
            return text if len(text) < MAX_QUOTED_LENGTH else "..."
    return "..."


def comparison_side(place: Place, side: Literal["left", "right"]) -> str:
    """Return the source text of one side of a comparison; of another expression, the whole text."""
    match place.node:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return place_text(replace(place, node=left if side == "left" else right))
    return place_text(place)


def variable_text(place: Place) -> str | None:
    """Return the source text of an expression that is a variable, attribute or entry (`x`, `self.pe`, `batch["x"]`).

    For a chain of transfers such as `x.cpu().to(device)`, return the text of the variable at its beginning. Returns
    None for any other expression.
    """
    node = variable_node(place)
    return place_text(replace(place, node=node), MAX_SUGGESTION_LENGTH) if node is not None else None


def variable_node(place: Place) -> cst.Name | cst.Attribute | cst.Subscript | None:
    """Return the syntax node of an expression that is a variable, attribute or entry; None for any other expression.

    For a chain of transfers such as `x.cpu().to(device)`, return the node of the variable at its beginning.
    """
    node = place.node
    while (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in CHAINED_METHODS
    ):
        node = node.func.value
    return node if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) else None


def collecting_statement(loop: Place, name: str, moved: Place) -> str | None:
    """Return the source text of a statement that replaces a loop which transfers each element of a container.

    `moved` is the transfer of the loop variable `name`. A loop over a list `xs` gives `xs = [...]`, a loop over the
    items of a dict gives a new dict, and a loop over `m.parameters()` gives a transfer of `m`. Returns None for any
    other loop.
    """
    node = _for_statement(loop)
    if node is None or name not in _names_in_target(node.target):
        return None
    source = place_text(replace(loop, node=node.iter), MAX_SUGGESTION_LENGTH)
    target = place_text(replace(loop, node=node.target), MAX_SUGGESTION_LENGTH)
    element = place_text(moved, MAX_SUGGESTION_LENGTH)
    match node.iter:
        case cst.Call(func=cst.Attribute(value=cst.Name() | cst.Attribute() as owner, attr=cst.Name(value="items"))):
            key = target.partition(",")[0]
            mapping = place_text(replace(loop, node=owner), MAX_SUGGESTION_LENGTH)
            return f"{mapping} = {{{key}: {element} for {target} in {source}}}"
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="parameters" | "buffers"))):
            module = place_text(replace(loop, node=owner), MAX_SUGGESTION_LENGTH)
            return f"{module}.{element.rpartition(name + '.')[2]}"
        case cst.Name() | cst.Attribute():
            return f"{source} = [{element} for {target} in {source}]" if target == name else None
    return None


def is_single_statement_loop(loop: Place) -> bool:
    """Return whether a loop is a `for` loop whose body is a single statement, as in code that measures time."""
    match _loop_statement(loop):
        case cst.For(body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[_])])):
            return True
    return False


def places_in_loop(loop: Place, *places: Place) -> list[Place]:
    """Return those of the given source locations that are within the text of a loop, in the order of the text.

    Locations in functions that the loop calls are left out.
    """
    statement = _loop_statement(loop)
    nodes = {place.node: place for place in places}
    return [nodes[one] for one in descend(statement) if one in nodes] if statement is not None else []


def is_in_main_block(place: Place, scope: Scope) -> bool:
    """Return whether a place is in an `if __name__ == "__main__":` block, outside of functions."""
    return scope.entry and isinstance(place.unit, Statement) and "__name__" in place.unit.facts.mentions


def _for_statement(loop: Place) -> cst.For | None:
    """Return the `for` statement at the source location of a loop; None for a `while` loop."""
    statement = _loop_statement(loop)
    return statement if isinstance(statement, cst.For) else None


def _loop_statement(loop: Place) -> cst.For | cst.While | None:
    """Return the `for` or `while` statement at a source location; None if there is no loop.

    The location may be the loop statement itself, the target of a `for` or the test of a `while`.
    """
    if isinstance(loop.node, (cst.For, cst.While)):
        return loop.node
    if not isinstance(loop.unit, Statement):
        return None
    for one in (loop.unit.tree, *descend(loop.unit.tree)):
        match one:
            case cst.For(target=head) | cst.While(test=head) if head is loop.node:
                return one
    return None


def _names_in_target(target: cst.BaseExpression) -> set[str]:
    """Return the names that the target of a `for` statement binds: a name, or the names in a tuple or list."""
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _names_in_target(element.value)}
    return set()
