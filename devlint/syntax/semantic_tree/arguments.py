"""Conversion of calls with their arguments, and of functions' parameters."""

from __future__ import annotations

import ast
from typing import Final

import libcst as cst

from devlint.syntax.semantic_tree.conversion import EXPRESSIONS, Conversion, converts
from devlint.syntax.semantic_tree.literals import make_name
from devlint.syntax.semantic_tree.node_makers import node_maker

_make_call: Final = node_maker(cst.Call, "func", "args")
_make_positional: Final = node_maker(cst.Arg, "value")
_make_keyword: Final = node_maker(cst.Arg, "value", "keyword")
_make_star: Final = node_maker(cst.Arg, "value", star="*")
_make_double_star: Final = node_maker(cst.Arg, "value", star="**")
_make_parameters: Final = node_maker(
    cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params", "posonly_ind"
)
_make_parameter: Final = node_maker(cst.Param, "name", "annotation", "default", "star")
_make_bare_star: Final = node_maker(cst.ParamStar)
_make_lambda: Final = node_maker(cst.Lambda, "params", "body")
make_annotation: Final = node_maker(cst.Annotation, "annotation")

_SLASH: Final = cst.ParamSlash()


@converts(EXPRESSIONS, ast.Call)
def call(conversion: Conversion, node: ast.Call) -> cst.Call:
    """Return the libcst node of a call."""
    function = node.func
    return _make_call(
        EXPRESSIONS[function.__class__](conversion, function), call_arguments(conversion, node.args, node.keywords)
    )


def call_arguments(
    conversion: Conversion, positional: list[ast.expr], keywords: list[ast.keyword]
) -> tuple[cst.Arg, ...]:
    """Return the libcst nodes of the arguments of a call in the order of the text, where `*a` may follow `b=c`."""
    if not keywords:
        return tuple([_positional_argument(conversion, one) for one in positional])
    if not positional:
        return tuple([keyword_argument(conversion, one) for one in keywords])
    last, first = positional[-1], keywords[0]
    if (last.lineno, last.col_offset) < (first.lineno, first.col_offset):
        return (
            *[_positional_argument(conversion, one) for one in positional],
            *[keyword_argument(conversion, one) for one in keywords],
        )
    mixed: list[ast.expr | ast.keyword] = [*positional, *keywords]
    mixed.sort(key=lambda one: (one.lineno, one.col_offset))
    return tuple(
        keyword_argument(conversion, one) if isinstance(one, ast.keyword) else _positional_argument(conversion, one)
        for one in mixed
    )


def _positional_argument(conversion: Conversion, node: ast.expr) -> cst.Arg:
    """Return the libcst node of an argument without keyword."""
    if isinstance(node, ast.Starred):
        return _make_star(conversion.expression(node.value))
    return _make_positional(EXPRESSIONS[node.__class__](conversion, node))


def keyword_argument(conversion: Conversion, node: ast.keyword) -> cst.Arg:
    """Return the libcst node of an argument with a keyword, or of `**a`."""
    value = EXPRESSIONS[node.value.__class__](conversion, node.value)
    return _make_double_star(value) if node.arg is None else _make_keyword(value, make_name(node.arg))


@converts(EXPRESSIONS, ast.Lambda)
def lambda_expression(conversion: Conversion, node: ast.Lambda) -> cst.Lambda:
    """Return the libcst node of a lambda."""
    return _make_lambda(parameters(conversion, node.args), conversion.expression(node.body))


def parameters(conversion: Conversion, node: ast.arguments) -> cst.Parameters:
    """Return the libcst node of the parameters of a function or lambda."""
    plain = [*node.posonlyargs, *node.args]
    defaults = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    made = [_parameter(conversion, one, default) for one, default in zip(plain, defaults, strict=True)]
    first = len(node.posonlyargs)
    star: cst.Param | cst.ParamStar | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT
    if node.vararg is not None:
        star = _parameter(conversion, node.vararg, None, "*")
    elif node.kwonlyargs:
        star = _make_bare_star()
    keyword_only = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    return _make_parameters(
        tuple(made[first:]),
        star,
        tuple([_parameter(conversion, one, default) for one, default in keyword_only]),
        _parameter(conversion, node.kwarg, None, "**") if node.kwarg is not None else None,
        tuple(made[:first]),
        _SLASH if first else cst.MaybeSentinel.DEFAULT,
    )


def _parameter(conversion: Conversion, node: ast.arg, default: ast.expr | None, star: str = "") -> cst.Param:
    """Return the libcst node of one parameter."""
    note = node.annotation
    return _make_parameter(
        make_name(node.arg),
        None if note is None else make_annotation(conversion.expression(note)),
        conversion.expression_or_none(default),
        star,
    )
