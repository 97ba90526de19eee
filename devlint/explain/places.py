"""Places and operands in words: the source that a message quotes."""

from __future__ import annotations

import io
import tokenize
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.placement import Place
from devlint.interpreter.state.events import Operand
from devlint.syntax.tree_walk import descend, dotted_name

LONGEST: Final = 40
"""Characters of source that a message quotes; what is longer loses its middle."""


WORDS: Final = frozenset({"indexing", "index assignment"})
"""Operations that are named by a word and not by code."""


LOOSE: Final = (
    cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp, cst.Lambda, cst.Await,
    cst.NamedExpr,
)  # fmt: skip
"""Expressions that bind less tightly than an attribute."""


def place_text(place: Place, longest: int = LONGEST) -> str:
    """The source of a place on one line, shortened in the middle where it is long."""
    code = cst.Module([]).code_for_node(place.node) if isinstance(place.node, cst.CSTNode) else ""
    text = " ".join(_without_comments(code).split())
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[:half].rstrip()}...{text[-half:].lstrip()}"


def text_with_suffix(place: Place, suffix: str) -> str:
    """The source of a place with `.cpu()` or the like behind it, in parentheses where Python needs them."""
    text = place_text(place)
    loose = isinstance(place.node, LOOSE) and not place.node.lpar
    return f"({text}){suffix}" if loose else f"{text}{suffix}"


def _without_comments(code: str) -> str:
    if "#" not in code:
        return code
    lines = f"({code})".splitlines()  # within parentheses line breaks and indentation mean nothing
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(lines)[1:-1]


def dotted_name_at(place: Place) -> str | None:
    """The dotted name that stands at a place (`x`, `self.pe`); None for any other expression."""
    return dotted_name(place.node) if isinstance(place.node, cst.BaseExpression) else None


def callee_text(place: Place, longest: int = LONGEST) -> str:
    """What is called at a place (`self.fc` of `self.fc(x)`); the place's own text where nothing is called."""
    node = place.node
    return place_text(replace(place, node=node.func) if isinstance(node, cst.Call) else place, longest)


def size_source_name(place: Place) -> str | None:
    """The name whose size the expression at a place asks for: `labels` in `torch.eye(labels.size(0))`."""
    for node in descend(place.node) if isinstance(place.node, cst.CSTNode) else ():
        if isinstance(node, cst.Attribute) and node.attr.value in ("size", "shape", "numel"):
            measured = dotted_name_at(replace(place, node=node.value))
            if measured is not None:
                return measured
    return None


def method_text(place: Place) -> str:
    """The method called at a place, `.to()`; the place's own text where none is."""
    node = place.node
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return f".{node.func.attr.value}()"
    return place_text(place)


def argument_places(place: Place) -> tuple[Place, ...]:
    """The arguments of the call at a place; none where nothing is called."""
    node = place.node
    return tuple(replace(place, node=one.value) for one in node.args) if isinstance(node, cst.Call) else ()


def operand_text(operand: Operand) -> str:
    """An operand as a noun: its expression, or the module whose parameters it is."""
    if operand.of_module is not None:
        return f"the weights of `{callee_text(operand.place)}`"
    return f"`{place_text(operand.place)}`"


def operation_text(operation: str) -> str:
    """An operation as a noun: `*` in code marks, indexing in words."""
    return operation if operation in WORDS else f"`{operation}`"
