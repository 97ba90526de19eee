"""Walks over libcst trees that visit only nodes with meaning: no white space, comments or punctuation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import libcst as cst

LOOSELY_BINDING = (
    cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp, cst.Lambda, cst.Await,
    cst.NamedExpr, cst.Integer, cst.Float, cst.ConcatenatedString, cst.Yield, cst.GeneratorExp,
)  # fmt: skip
"""The expression types that need parentheses before an attribute can follow, as in `(a + b).cpu()`."""

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

# The fields of classes for which libcst declares them in another order than that of the text.
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
    """A mapping from each libcst node class to its fields that hold nodes with meaning, in the order of the text.

    White space, comments, punctuation and operators are nodes without meaning. The entry of a class is computed when it
    is first used.
    """

    def __missing__(self, cls: type[cst.CSTNode]) -> tuple[str, ...]:
        found = _TEXT_ORDER.get(cls)
        if found is None:
            hints = get_type_hints(cls)
            found = tuple(field.name for field in fields(cls) if _is_semantic(hints[field.name]))
        self[cls] = found
        return found


class _FieldsBackwards(dict[type[cst.CSTNode], tuple[str, ...]]):
    """A mapping from each libcst node class to its semantic fields in reverse order, for walks that keep a stack.

    Semantic fields hold nodes with meaning: no white space, comments or punctuation. The fields of `closed` classes are
    given without the field `body`.
    """

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


def semantic_fields(cls: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a libcst node class that hold nodes with meaning, in the order of the text."""
    return _FIELDS[cls]


def dotted_name(node: cst.CSTNode) -> str | None:
    """Return an attribute chain that starts at a name as text (`torch.nn.functional`), or None for any other node."""
    parts: list[str] = []
    # This runs for about every other node. Comparing types is several times as fast as `isinstance` on libcst classes.
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the children of a libcst node in the order of the text.

    White space, comments, punctuation and operators are left out.
    """
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is tuple or value.__class__ is list:
            yield from value
        elif value is not None and value is not cst.MaybeSentinel.DEFAULT:
            yield value


def descend(node: cst.CSTNode, *, into_functions: bool = True) -> Iterator[cst.CSTNode]:
    """Yield all descendants of a libcst node in the order of the text, a parent before its children.

    White space, comments, punctuation and operators are left out. Without `into_functions`, the bodies of functions,
    lambdas and classes defined below `node` are left out too. Their decorators, defaults, annotations and bases are
    kept, because they run where the definition stands.
    """
    below = _BACKWARDS if into_functions else _BACKWARDS_OUTSIDE
    pending: list[cst.CSTNode] = []
    pop, push, default = pending.pop, pending.append, cst.MaybeSentinel.DEFAULT
    names = _BACKWARDS[node.__class__]
    while True:
        for name in names:
            value = getattr(node, name)
            if value.__class__ is tuple or value.__class__ is list:
                pending += value[::-1]
            elif value is not None and value is not default:
                push(value)
        if not pending:
            return
        node = pop()
        yield node
        names = below[node.__class__]


def _is_semantic(hint: Any) -> bool:
    """Return whether a field of a libcst node, given by its type, can hold a node with meaning.

    White space, comments, punctuation and operators are nodes without meaning.
    """
    if isinstance(hint, type):
        return issubclass(hint, cst.CSTNode) and not issubclass(hint, _PUNCTUATION)
    return any(_is_semantic(part) for part in get_args(hint))


def names_in_target(target: cst.BaseExpression) -> Iterator[str]:
    """Yield the names that an assignment target binds, through tuples, lists and stars."""
    match target:
        case cst.Name(value=value):
            yield value
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from names_in_target(element.value)
