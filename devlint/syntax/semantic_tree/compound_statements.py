"""Conversion of compound statements and their blocks: functions, classes, branches, loops, `with` and `try`."""

from __future__ import annotations

import ast
from typing import Any, Final

import libcst as cst

from devlint.syntax.semantic_tree.arguments import call_arguments, make_annotation, parameters
from devlint.syntax.semantic_tree.conversion import (
    COMPOUND_STATEMENTS,
    SIMPLE_STATEMENTS,
    Conversion,
    NotConvertible,
    converts,
)
from devlint.syntax.semantic_tree.expressions import ASYNCHRONOUS
from devlint.syntax.semantic_tree.literals import make_name
from devlint.syntax.semantic_tree.node_makers import node_maker
from devlint.syntax.semantic_tree.simple_statements import make_alias

_make_line: Final = node_maker(cst.SimpleStatementLine, "body")
_make_block: Final = node_maker(cst.IndentedBlock, "body")
_make_suite: Final = node_maker(cst.SimpleStatementSuite, "body")
_make_function: Final = node_maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
_make_class: Final = node_maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
_make_decorator: Final = node_maker(cst.Decorator, "decorator")
_make_if: Final = node_maker(cst.If, "test", "body", "orelse")
_make_else: Final = node_maker(cst.Else, "body")
_make_while: Final = node_maker(cst.While, "test", "body", "orelse")
_make_for: Final = node_maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_make_with: Final = node_maker(cst.With, "items", "body", "asynchronous")
_make_with_item: Final = node_maker(cst.WithItem, "item", "asname")
_make_try: Final = node_maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_make_handler: Final = node_maker(cst.ExceptHandler, "body", "type", "name")
_make_star_try: Final = node_maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_make_star_handler: Final = node_maker(cst.ExceptStarHandler, "body", "type", "name")
_make_finally: Final = node_maker(cst.Finally, "body")


def lines(conversion: Conversion, nodes: list[ast.stmt]) -> tuple[Any, ...]:
    """Return the libcst nodes of statements: compound statements, and lines that hold one or more simple ones."""
    made: list[cst.CSTNode] = []
    line: list[cst.CSTNode] = []
    before: ast.stmt | None = None
    for node in nodes:
        convert = SIMPLE_STATEMENTS.get(node.__class__)
        if line and (convert is None or before is None or not conversion.shares_line(node, before)):
            made.append(_make_line(tuple(line)))
            line = []
        if convert is not None:
            line.append(convert(conversion, node))
            before = node
            continue
        made.append(COMPOUND_STATEMENTS[node.__class__](conversion, node))
    if line:
        made.append(_make_line(tuple(line)))
    return tuple(made)


def _body(conversion: Conversion, nodes: list[ast.stmt]) -> cst.BaseSuite:
    """Return the libcst node of the body of a compound statement: a block, or simple statements on the line of `:`."""
    made = lines(conversion, nodes)
    return _make_block(made) if conversion.starts_line(nodes[0]) else _make_suite(made[0].body)


def _else(conversion: Conversion, nodes: list[ast.stmt]) -> cst.Else | None:
    """Return the libcst node of an `else` branch; None if there is none."""
    return _make_else(_body(conversion, nodes)) if nodes else None


@converts(COMPOUND_STATEMENTS, ast.FunctionDef, ast.AsyncFunctionDef)
def function(conversion: Conversion, node: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
    """Return the libcst node of a function definition."""
    _refuse_type_parameters(node)
    returns = None if node.returns is None else make_annotation(conversion.expression(node.returns))
    return _make_function(
        make_name(node.name),
        parameters(conversion, node.args),
        _body(conversion, node.body),
        _decorators(conversion, node.decorator_list),
        returns,
        ASYNCHRONOUS if isinstance(node, ast.AsyncFunctionDef) else None,
    )


@converts(COMPOUND_STATEMENTS, ast.ClassDef)
def class_definition(conversion: Conversion, node: ast.ClassDef) -> cst.ClassDef:
    """Return the libcst node of a class definition."""
    _refuse_type_parameters(node)
    return _make_class(
        make_name(node.name),
        _body(conversion, node.body),
        call_arguments(conversion, node.bases, []),
        call_arguments(conversion, [], node.keywords),
        _decorators(conversion, node.decorator_list),
    )


def _refuse_type_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    """Raise NotConvertible for a definition with type parameters: `def f[T](): ...`."""
    if getattr(node, "type_params", None):
        raise NotConvertible("type parameters")


def _decorators(conversion: Conversion, nodes: list[ast.expr]) -> tuple[cst.Decorator, ...]:
    """Return the libcst nodes of the decorators of a function or class."""
    return tuple(_make_decorator(conversion.expression(one)) for one in nodes)


@converts(COMPOUND_STATEMENTS, ast.If)
def if_statement(conversion: Conversion, node: ast.If) -> cst.If:
    """Return the libcst node of an `if` statement; `elif` is another `if` statement in both trees."""
    orelse: cst.If | cst.Else | None
    below = node.orelse[0] if len(node.orelse) == 1 else None
    if isinstance(below, ast.If) and conversion.starts_with(below, "elif"):
        orelse = if_statement(conversion, below)
    else:
        orelse = _else(conversion, node.orelse)
    return _make_if(conversion.expression(node.test), _body(conversion, node.body), orelse)


@converts(COMPOUND_STATEMENTS, ast.While)
def while_statement(conversion: Conversion, node: ast.While) -> cst.While:
    """Return the libcst node of a `while` statement."""
    body = _body(conversion, node.body)
    return _make_while(conversion.expression(node.test), body, _else(conversion, node.orelse))


@converts(COMPOUND_STATEMENTS, ast.For, ast.AsyncFor)
def for_statement(conversion: Conversion, node: ast.For | ast.AsyncFor) -> cst.For:
    """Return the libcst node of a `for` statement."""
    return _make_for(
        conversion.expression(node.target),
        conversion.expression(node.iter),
        _body(conversion, node.body),
        _else(conversion, node.orelse),
        ASYNCHRONOUS if isinstance(node, ast.AsyncFor) else None,
    )


@converts(COMPOUND_STATEMENTS, ast.With, ast.AsyncWith)
def with_statement(conversion: Conversion, node: ast.With | ast.AsyncWith) -> cst.With:
    """Return the libcst node of a `with` statement."""
    items = tuple(_with_item(conversion, one) for one in node.items)
    return _make_with(items, _body(conversion, node.body), ASYNCHRONOUS if isinstance(node, ast.AsyncWith) else None)


def _with_item(conversion: Conversion, node: ast.withitem) -> cst.WithItem:
    """Return the libcst node of one item of a `with` statement."""
    target = node.optional_vars
    alias = None if target is None else make_alias(conversion.expression(target))
    return _make_with_item(conversion.expression(node.context_expr), alias)


@converts(COMPOUND_STATEMENTS, ast.Try)
def try_statement(conversion: Conversion, node: ast.Try) -> cst.Try:
    """Return the libcst node of a `try` statement."""
    return _make_try(*_parts_of_try(conversion, node, _make_handler))


def _star_try_statement(conversion: Conversion, node: Any) -> cst.TryStar:
    """Return the libcst node of a `try` statement with `except*`."""
    return _make_star_try(*_parts_of_try(conversion, node, _make_star_handler))


if hasattr(ast, "TryStar"):  # since Python 3.11
    COMPOUND_STATEMENTS[ast.TryStar] = _star_try_statement


def _parts_of_try(conversion: Conversion, node: Any, make_handler: Any) -> tuple[Any, ...]:
    """Return the libcst nodes of the parts of a `try` statement: body, handlers, `else` and `finally`."""
    handlers = []
    for one in node.handlers:
        alias = None if one.name is None else make_alias(make_name(one.name))
        handlers.append(make_handler(_body(conversion, one.body), conversion.expression_or_none(one.type), alias))
    last = _make_finally(_body(conversion, node.finalbody)) if node.finalbody else None
    return _body(conversion, node.body), tuple(handlers), _else(conversion, node.orelse), last
