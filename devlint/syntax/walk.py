"""Walks over a libcst tree that see what the program means: never whitespace, comments or punctuation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import libcst as cst

_PUNCTUATION: tuple[type[cst.CSTNode], ...] = (
    cst.BaseParenthesizableWhitespace,
    cst.TrailingWhitespace,
    cst.EmptyLine,
    cst.Newline,
    cst.Comment,
    cst.Comma,
    cst.Semicolon,
    cst.Colon,
    cst.Dot,
    cst.AssignEqual,
    cst.Asynchronous,
    cst.BaseUnaryOp,
    cst.BaseBinaryOp,
    cst.BaseBooleanOp,
    cst.BaseCompOp,
    cst.BaseAugOp,
    cst.ParamSlash,
    cst.ParamStar,
    cst.LeftParen,
    cst.RightParen,
    cst.LeftSquareBracket,
    cst.RightSquareBracket,
    cst.LeftCurlyBrace,
    cst.RightCurlyBrace,
    cst.BitOr,
)

# Where libcst declares the fields of a class in another order than they stand in the text.
_TEXT_ORDER: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.FunctionDef: ("decorators", "name", "type_parameters", "params", "returns", "body"),
    cst.ClassDef: ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    cst.Parameters: ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
    cst.Arg: ("keyword", "value"),
    cst.IfExp: ("body", "test", "orelse"),
    cst.ExceptHandler: ("type", "name", "body"),
    cst.ExceptStarHandler: ("type", "name", "body"),
    cst.MatchCase: ("pattern", "guard", "body"),
    cst.TypeAlias: ("name", "type_parameters", "value"),
}

_fields_of_class: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def dotted_name(node: cst.BaseExpression) -> str | None:
    """`torch.nn.functional` for a chain of attributes that starts at a name, None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The semantic children of a node, in the order of the text; operators count as a property of their operation."""
    cls = node.__class__
    for name in _fields_of_class.get(cls) or semantic_fields(cls):
        value = getattr(node, name)
        if value.__class__ is tuple or value.__class__ is list:
            yield from value
        elif isinstance(value, cst.CSTNode):
            yield value


def descend(node: cst.CSTNode, *, into_functions: bool = True) -> Iterator[cst.CSTNode]:
    """All semantic descendants in the order of the text, a parent before its children.

    Without `into_functions` the bodies of functions, lambdas and classes defined below `node` are left out;
    their decorators, defaults, annotations and bases run where they are defined and are kept.
    """
    known = _fields_of_class
    pending = [*children(node)][::-1]
    pop = pending.pop
    extend = pending.extend
    while pending:
        node = pop()
        yield node
        cls = node.__class__
        names = known.get(cls)
        if names is None:
            names = semantic_fields(cls)
        if not names:
            continue
        if not into_functions and cls in _SCOPES:
            names = tuple(name for name in names if name != "body")
        below: list[cst.CSTNode] = []
        for name in names:
            value = getattr(node, name)
            if value.__class__ is tuple or value.__class__ is list:
                below.extend(value)
            elif isinstance(value, cst.CSTNode):
                below.append(value)
        below.reverse()
        extend(below)


_SCOPES = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def semantic_fields(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    """The names of the fields of a node class that hold semantic children, in the order of the text."""
    found = _TEXT_ORDER.get(cls)
    if found is None:
        hints = get_type_hints(cls)
        found = tuple(field.name for field in fields(cls) if _is_semantic(hints[field.name]))
    _fields_of_class[cls] = found
    return found


def _is_semantic(hint: Any) -> bool:
    """Whether a field of this type can hold a node other than punctuation."""
    if isinstance(hint, type):
        return issubclass(hint, cst.CSTNode) and not issubclass(hint, _PUNCTUATION)
    return any(_is_semantic(part) for part in get_args(hint))
