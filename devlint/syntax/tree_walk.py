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


class _SemanticFields(dict[type[cst.CSTNode], tuple[str, ...]]):
    """For every node class, as it is met, the fields that hold semantic children, in the order of the text."""

    def __missing__(self, cls: type[cst.CSTNode]) -> tuple[str, ...]:
        found = _TEXT_ORDER.get(cls)
        if found is None:
            hints = get_type_hints(cls)
            found = tuple(field.name for field in fields(cls) if _is_semantic(hints[field.name]))
        self[cls] = found
        return found


class _FieldsBackwards(dict[type[cst.CSTNode], tuple[str, ...]]):
    """The same fields for a walk that keeps what is to come on a stack; without the bodies of `closed` classes."""

    def __init__(self, closed: frozenset[type[cst.CSTNode]]) -> None:
        super().__init__()
        self._closed = closed

    def __missing__(self, cls: type[cst.CSTNode]) -> tuple[str, ...]:
        names = _FIELDS[cls][::-1]
        self[cls] = tuple(name for name in names if name != "body") if cls in self._closed else names
        return self[cls]


_FIELDS = _SemanticFields()
_BACKWARDS = _FieldsBackwards(frozenset())
_BACKWARDS_OUTSIDE = _FieldsBackwards(frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda}))


def dotted_name(node: cst.CSTNode) -> str | None:
    """`torch.nn.functional` for a chain of attributes that starts at a name, None for anything else."""
    parts: list[str] = []
    # Asked of every other node there is: comparing types is several times as quick as asking the abstract classes.
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The semantic children of a node, in the order of the text; operators count as a property of their operation."""
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is tuple or value.__class__ is list:
            yield from value
        elif value is not None and value is not cst.MaybeSentinel.DEFAULT:
            yield value


def descend(node: cst.CSTNode, *, into_functions: bool = True) -> Iterator[cst.CSTNode]:
    """All semantic descendants in the order of the text, a parent before its children.

    Without `into_functions` the bodies of functions, lambdas and classes defined below `node` are left out;
    their decorators, defaults, annotations and bases run where they are defined and are kept.
    """
    below = _BACKWARDS if into_functions else _BACKWARDS_OUTSIDE
    pending = [*children(node)]
    pending.reverse()
    pop, push, default = pending.pop, pending.append, cst.MaybeSentinel.DEFAULT
    while pending:
        node = pop()
        yield node
        for name in below[node.__class__]:
            value = getattr(node, name)
            if value.__class__ is tuple or value.__class__ is list:
                pending += value[::-1]
            elif value is not None and value is not default:
                push(value)


def _is_semantic(hint: Any) -> bool:
    """Whether a field of this type can hold a node other than punctuation."""
    if isinstance(hint, type):
        return issubclass(hint, cst.CSTNode) and not issubclass(hint, _PUNCTUATION)
    return any(_is_semantic(part) for part in get_args(hint))
