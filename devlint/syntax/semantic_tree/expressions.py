"""Conversion of expressions other than literals and calls."""

from __future__ import annotations

import ast
from typing import Any, Final

import libcst as cst

from devlint.syntax.semantic_tree.conversion import EXPRESSIONS, Conversion, converts
from devlint.syntax.semantic_tree.literals import make_name
from devlint.syntax.semantic_tree.node_makers import node_maker

_make_attribute: Final = node_maker(cst.Attribute, "value", "attr")
_make_subscript: Final = node_maker(cst.Subscript, "value", "slice")
_make_subscript_element: Final = node_maker(cst.SubscriptElement, "slice")
_make_index: Final = node_maker(cst.Index, "value", "star")
_make_slice: Final = node_maker(cst.Slice, "lower", "upper", "step")
_make_tuple: Final = node_maker(cst.Tuple, "elements")
_make_list: Final = node_maker(cst.List, "elements")
_make_set: Final = node_maker(cst.Set, "elements")
_make_element: Final = node_maker(cst.Element, "value")
_make_starred_element: Final = node_maker(cst.StarredElement, "value")
_make_dict: Final = node_maker(cst.Dict, "elements")
_make_dict_element: Final = node_maker(cst.DictElement, "key", "value")
_make_starred_dict_element: Final = node_maker(cst.StarredDictElement, "value")
_make_binary: Final = node_maker(cst.BinaryOperation, "left", "operator", "right")
_make_unary: Final = node_maker(cst.UnaryOperation, "operator", "expression")
_make_boolean: Final = node_maker(cst.BooleanOperation, "left", "operator", "right")
_make_comparison: Final = node_maker(cst.Comparison, "left", "comparisons")
_make_comparison_target: Final = node_maker(cst.ComparisonTarget, "operator", "comparator")
_make_conditional: Final = node_maker(cst.IfExp, "test", "body", "orelse")
_make_walrus: Final = node_maker(cst.NamedExpr, "target", "value")
_make_await: Final = node_maker(cst.Await, "expression")
_make_yield: Final = node_maker(cst.Yield, "value")
_make_from: Final = node_maker(cst.From, "item")
_make_list_comprehension: Final = node_maker(cst.ListComp, "elt", "for_in")
_make_set_comprehension: Final = node_maker(cst.SetComp, "elt", "for_in")
_make_generator: Final = node_maker(cst.GeneratorExp, "elt", "for_in")
_make_dict_comprehension: Final = node_maker(cst.DictComp, "key", "value", "for_in")
_make_clause: Final = node_maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_make_condition: Final = node_maker(cst.CompIf, "test")

ASYNCHRONOUS: Final = cst.Asynchronous()

# Operators are shared by all operations: nobody asks for the position of an operator.
_BINARY: Final[dict[type[ast.operator], cst.BaseBinaryOp]] = {
    ast.Add: cst.Add(),
    ast.Sub: cst.Subtract(),
    ast.Mult: cst.Multiply(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.Mod: cst.Modulo(),
    ast.Pow: cst.Power(),
    ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
}
_UNARY: Final[dict[type[ast.unaryop], cst.BaseUnaryOp]] = {
    ast.Not: cst.Not(),
    ast.USub: cst.Minus(),
    ast.UAdd: cst.Plus(),
    ast.Invert: cst.BitInvert(),
}
_BOOLEAN: Final[dict[type[ast.boolop], cst.BaseBooleanOp]] = {ast.And: cst.And(), ast.Or: cst.Or()}
_COMPARISON: Final[dict[type[ast.cmpop], cst.BaseCompOp]] = {
    ast.Eq: cst.Equal(),
    ast.NotEq: cst.NotEqual(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.In: cst.In(),
    ast.NotIn: cst.NotIn(),
}


@converts(EXPRESSIONS, ast.Name)
def name(_: Conversion, node: ast.Name) -> cst.Name:
    """Return the libcst node of a name."""
    return make_name(node.id)


@converts(EXPRESSIONS, ast.Attribute)
def attribute(conversion: Conversion, node: ast.Attribute) -> cst.Attribute:
    """Return the libcst node of an attribute."""
    value = node.value
    return _make_attribute(EXPRESSIONS[value.__class__](conversion, value), make_name(node.attr))


@converts(EXPRESSIONS, ast.Subscript)
def subscript(conversion: Conversion, node: ast.Subscript) -> cst.Subscript:
    """Return the libcst node of a subscript; libcst has no tuple for indices that stand without parentheses."""
    index = node.slice
    if isinstance(index, ast.Tuple) and not _is_parenthesized(conversion, index):
        elements = tuple(_subscript_element(conversion, one) for one in index.elts)
    else:
        elements = (_subscript_element(conversion, index),)
    return _make_subscript(conversion.expression(node.value), elements)


def _subscript_element(conversion: Conversion, node: ast.expr) -> cst.SubscriptElement:
    """Return the libcst node of one index or slice of a subscript."""
    if isinstance(node, ast.Slice):
        lower, upper, step = map(conversion.expression_or_none, (node.lower, node.upper, node.step))
        return _make_subscript_element(_make_slice(lower, upper, step))
    if isinstance(node, ast.Starred):
        return _make_subscript_element(_make_index(conversion.expression(node.value), "*"))
    return _make_subscript_element(_make_index(EXPRESSIONS[node.__class__](conversion, node), None))


def _is_parenthesized(conversion: Conversion, node: ast.Tuple) -> bool:
    """Return whether a tuple has parentheses of its own, as in `x[(a, b)]`, but not in `x[(a), (b)]`.

    The tuple's own parenthesis is opened before the first element, and not closed right after that element.
    """
    if not node.elts:
        return True
    first = node.elts[0]
    opened = conversion.punctuation(conversion.start(node), conversion.start(first)).count("(")
    if not opened:
        return False
    following = conversion.start(node.elts[1]) if len(node.elts) > 1 else conversion.end(node)
    closed = conversion.punctuation(conversion.end(first), following).partition(",")[0].count(")")
    return opened > closed


def elements_of(conversion: Conversion, nodes: list[ast.expr]) -> tuple[cst.BaseElement, ...]:
    """Return the libcst nodes of the elements of a tuple, list or set."""
    return tuple(
        _make_starred_element(conversion.expression(one.value))
        if isinstance(one, ast.Starred)
        else _make_element(EXPRESSIONS[one.__class__](conversion, one))
        for one in nodes
    )


def tuple_of(conversion: Conversion, nodes: list[ast.expr]) -> cst.Tuple:
    """Return the libcst node of a tuple with some elements."""
    return _make_tuple(elements_of(conversion, nodes))


@converts(EXPRESSIONS, ast.Tuple)
def tuple_display(conversion: Conversion, node: ast.Tuple) -> cst.Tuple:
    """Return the libcst node of a tuple."""
    return tuple_of(conversion, node.elts)


@converts(EXPRESSIONS, ast.List)
def list_display(conversion: Conversion, node: ast.List) -> cst.List:
    """Return the libcst node of a list."""
    return _make_list(elements_of(conversion, node.elts))


@converts(EXPRESSIONS, ast.Set)
def set_display(conversion: Conversion, node: ast.Set) -> cst.Set:
    """Return the libcst node of a set."""
    return _make_set(elements_of(conversion, node.elts))


@converts(EXPRESSIONS, ast.Starred)
def starred(conversion: Conversion, node: ast.Starred) -> cst.StarredElement:
    """Return the libcst node of a starred expression that stands alone, as in an annotation `*args: *Ts`."""
    return _make_starred_element(conversion.expression(node.value))


@converts(EXPRESSIONS, ast.Dict)
def dict_display(conversion: Conversion, node: ast.Dict) -> cst.Dict:
    """Return the libcst node of a dict."""
    convert = conversion.expression
    return _make_dict(
        tuple(
            _make_starred_dict_element(convert(value))
            if key is None
            else _make_dict_element(convert(key), convert(value))
            for key, value in zip(node.keys, node.values, strict=True)
        )
    )


@converts(EXPRESSIONS, ast.BinOp)
def binary_operation(conversion: Conversion, node: ast.BinOp) -> cst.BinaryOperation:
    """Return the libcst node of an operation such as `a + b`."""
    left, right = node.left, node.right
    return _make_binary(
        EXPRESSIONS[left.__class__](conversion, left),
        _BINARY[node.op.__class__],
        EXPRESSIONS[right.__class__](conversion, right),
    )


@converts(EXPRESSIONS, ast.UnaryOp)
def unary_operation(conversion: Conversion, node: ast.UnaryOp) -> cst.UnaryOperation:
    """Return the libcst node of an operation such as `-a`."""
    return _make_unary(_UNARY[node.op.__class__], conversion.expression(node.operand))


@converts(EXPRESSIONS, ast.BoolOp)
def boolean_operation(conversion: Conversion, node: ast.BoolOp) -> cst.BaseExpression:
    """Return the libcst node of `a and b and c`, which libcst has as two operations, the first inside the second."""
    operator = _BOOLEAN[node.op.__class__]
    first, *others = node.values
    whole: cst.BaseExpression = conversion.expression(first)
    for one in others:
        whole = _make_boolean(whole, operator, conversion.expression(one))
    return whole


@converts(EXPRESSIONS, ast.Compare)
def comparison(conversion: Conversion, node: ast.Compare) -> cst.Comparison:
    """Return the libcst node of a comparison such as `a < b < c`."""
    convert = conversion.expression
    left = convert(node.left)
    targets = zip(node.ops, node.comparators, strict=True)
    return _make_comparison(
        left, tuple(_make_comparison_target(_COMPARISON[one.__class__], convert(right)) for one, right in targets)
    )


@converts(EXPRESSIONS, ast.IfExp)
def conditional_expression(conversion: Conversion, node: ast.IfExp) -> cst.IfExp:
    """Return the libcst node of `a if b else c`."""
    convert = conversion.expression
    return _make_conditional(convert(node.test), convert(node.body), convert(node.orelse))


@converts(EXPRESSIONS, ast.NamedExpr)
def walrus(conversion: Conversion, node: ast.NamedExpr) -> cst.NamedExpr:
    """Return the libcst node of `a := b`."""
    return _make_walrus(make_name(node.target.id), conversion.expression(node.value))


@converts(EXPRESSIONS, ast.Await)
def await_expression(conversion: Conversion, node: ast.Await) -> cst.Await:
    """Return the libcst node of `await a`."""
    return _make_await(conversion.expression(node.value))


@converts(EXPRESSIONS, ast.Yield)
def yield_expression(conversion: Conversion, node: ast.Yield) -> cst.Yield:
    """Return the libcst node of `yield a`."""
    return _make_yield(conversion.expression_or_none(node.value))


@converts(EXPRESSIONS, ast.YieldFrom)
def yield_from(conversion: Conversion, node: ast.YieldFrom) -> cst.Yield:
    """Return the libcst node of `yield from a`."""
    return _make_yield(_make_from(conversion.expression(node.value)))


@converts(EXPRESSIONS, ast.ListComp)
def list_comprehension(conversion: Conversion, node: ast.ListComp) -> cst.ListComp:
    """Return the libcst node of a list comprehension."""
    return _make_list_comprehension(conversion.expression(node.elt), _clauses(conversion, node.generators))


@converts(EXPRESSIONS, ast.SetComp)
def set_comprehension(conversion: Conversion, node: ast.SetComp) -> cst.SetComp:
    """Return the libcst node of a set comprehension."""
    return _make_set_comprehension(conversion.expression(node.elt), _clauses(conversion, node.generators))


@converts(EXPRESSIONS, ast.GeneratorExp)
def generator(conversion: Conversion, node: ast.GeneratorExp) -> cst.GeneratorExp:
    """Return the libcst node of a generator expression."""
    return _make_generator(conversion.expression(node.elt), _clauses(conversion, node.generators))


@converts(EXPRESSIONS, ast.DictComp)
def dict_comprehension(conversion: Conversion, node: ast.DictComp) -> cst.DictComp:
    """Return the libcst node of a dict comprehension."""
    key, value = conversion.expression(node.key), conversion.expression(node.value)
    return _make_dict_comprehension(key, value, _clauses(conversion, node.generators))


def _clauses(conversion: Conversion, nodes: list[ast.comprehension]) -> Any:
    """Return the libcst node of the `for` clauses of a comprehension, each inside the one before it."""
    inner = None
    for node in reversed(nodes):
        conditions = tuple(_make_condition(conversion.expression(test)) for test in node.ifs)
        target, iterated = conversion.expression(node.target), conversion.expression(node.iter)
        inner = _make_clause(target, iterated, conditions, inner, ASYNCHRONOUS if node.is_async else None)
    return inner
