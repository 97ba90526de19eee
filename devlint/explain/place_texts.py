"""Texts for places and operands: the source text that messages quote. A place is a syntax node in a source file."""

from __future__ import annotations

import io
import tokenize
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.placement import Place
from devlint.explain.cut_texts import cut_code
from devlint.interpreter.state.events import HardCodedAccelerator, Operand
from devlint.syntax.source_code import source_code
from devlint.syntax.tree_walk import LOOSELY_BINDING, descend, dotted_name

MAX_QUOTED_LENGTH: Final = 40
"""The number of source characters that a message quotes; the middle of longer source is left out."""


MAX_TEXT: Final = 10_000
"""A length that no expression has which is quoted whole."""

PHRASE_OPERATIONS: Final = frozenset({"indexing", "index assignment"})
"""Operations whose text is a phrase and not code."""


def place_text(place: Place, longest: int = MAX_QUOTED_LENGTH) -> str:
    """Return the source text of a syntax node on one line, without comments.

    A text of more than `longest` characters is shortened: dots stand for a part of it.
    """
    code = source_code(place.unit, place.node) if isinstance(place.node, cst.CSTNode) else ""
    return shortened(code, longest)


def shortened(code: str, longest: int = MAX_QUOTED_LENGTH) -> str:
    """Return the source code of an expression on one line, without comments.

    A text of more than `longest` characters is shortened: dots stand for a part of it.
    """
    return cut_code(" ".join(_without_comments(code).split()), longest)


def text_with_suffix(place: Place, suffix: str, longest: int = MAX_QUOTED_LENGTH) -> str:
    """Return the source text of an expression followed by a suffix such as `.cpu()`.

    The expression is put in parentheses where Python needs them. Its text is shortened to `longest` characters.
    """
    text = place_text(place, longest)
    loose = isinstance(place.node, LOOSELY_BINDING) and not place.node.lpar
    return f"({text}){suffix}" if loose else f"{text}{suffix}"


def hard_coded_text(event: HardCodedAccelerator) -> str:
    """Return the source text of an accelerator that a program writes out, such as `device="cuda"`."""
    quoted = event.quoted
    written = source_code(quoted.unit, quoted.node) if quoted and isinstance(quoted.node, cst.CSTNode) else ""
    return event.form.replace("{}", written)


def _without_comments(code: str) -> str:
    """Return the given source code of one expression without its comments."""
    if "#" not in code:
        return code
    lines = f"({code})".splitlines()  # within parentheses, Python ignores line breaks and indentation
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(lines)[1:-1]


def dotted_name_at(place: Place) -> str | None:
    """Return the text of an expression that is a dotted name (`x`, `self.pe`); None for any other expression."""
    return dotted_name(place.node) if isinstance(place.node, cst.BaseExpression) else None


def is_within(place: Place, other: Place) -> bool:
    """Return whether a place is another one, or a part of it."""
    parts = descend(other.node) if isinstance(other.node, cst.CSTNode) else ()
    return place == other or any(one is place.node for one in parts)


def callee_text(place: Place, longest: int = MAX_QUOTED_LENGTH) -> str:
    """Return the source text of the function that a call expression calls, `self.fc` of `self.fc(x)`.

    For an expression that is no call, return its own source text.
    """
    node = place.node
    return place_text(replace(place, node=node.func) if isinstance(node, cst.Call) else place, longest)


def size_source_name(place: Place) -> str | None:
    """Return the dotted name of the first object whose size an expression reads; None if the expression reads no size.

    In `torch.eye(labels.size(0))` it is `labels`.
    """
    for node in descend(place.node) if isinstance(place.node, cst.CSTNode) else ():
        if isinstance(node, cst.Attribute) and node.attr.value in ("size", "shape", "numel"):
            measured = dotted_name_at(replace(place, node=node.value))
            if measured is not None:
                return measured
    return None


def receiver_text(place: Place) -> str:
    """Return the source text of the object whose method a call expression calls, `x` of `x.to(device)`.

    For an expression that calls no method, return its own source text.
    """
    return place_text(receiver_of(place) or place)


def receiver_of(place: Place) -> Place | None:
    """Return the place of the object whose method a call expression calls; None for any other expression."""
    match place.node:
        case cst.Call(func=cst.Attribute(value=owner)):
            return replace(place, node=owner)
    return None


def method_text(place: Place) -> str:
    """Return the text `.to()` for a call of a method `to`.

    For an expression that calls no method, its own source text.
    """
    node = place.node
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return f".{node.func.attr.value}()"
    return place_text(place)


def call_text(place: Place) -> str:
    """Return the text of a method call without its receiver, `.to("cuda")` of `x.to("cuda")`."""
    node = place.node
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return place_text(place)
    return place_text(place, MAX_TEXT)[len(place_text(replace(place, node=node.func.value), MAX_TEXT)) :]


def argument_places(place: Place) -> tuple[Place, ...]:
    """Return the source locations of the arguments of a call expression; an empty tuple for any other expression."""
    node = place.node
    return tuple(replace(place, node=one.value) for one in node.args) if isinstance(node, cst.Call) else ()


def operand_text(operand: Operand) -> str:
    """Return a noun phrase for an operand: its source text, or "the weights of" the module it belongs to."""
    if operand.of_module is not None:
        return f"the weights of `{callee_text(operand.place)}`"
    return f"`{place_text(operand.place)}`"


def operation_text(operation: str) -> str:
    """Return a noun phrase for an operation: an operator or function in backticks, but "indexing" as a plain word."""
    return operation if operation in PHRASE_OPERATIONS else f"`{operation}`"
