"""Conversion of simple statements: assignments, imports, `return` and others that hold no block."""

from __future__ import annotations

import ast
from typing import Final

import libcst as cst

from devlint.syntax.semantic_tree.arguments import make_annotation
from devlint.syntax.semantic_tree.conversion import SIMPLE_STATEMENTS, Conversion, converts
from devlint.syntax.semantic_tree.expressions import tuple_of
from devlint.syntax.semantic_tree.literals import make_name
from devlint.syntax.semantic_tree.node_makers import node_maker

_make_expression_statement: Final = node_maker(cst.Expr, "value")
_make_assignment: Final = node_maker(cst.Assign, "targets", "value")
_make_target: Final = node_maker(cst.AssignTarget, "target")
_make_annotated_assignment: Final = node_maker(cst.AnnAssign, "target", "annotation", "value")
_make_augmented_assignment: Final = node_maker(cst.AugAssign, "target", "operator", "value")
_make_return: Final = node_maker(cst.Return, "value")
_make_raise: Final = node_maker(cst.Raise, "exc", "cause")
_make_cause: Final = node_maker(cst.From, "item")
_make_assert: Final = node_maker(cst.Assert, "test", "msg")
_make_deletion: Final = node_maker(cst.Del, "target")
_make_pass: Final = node_maker(cst.Pass)
_make_break: Final = node_maker(cst.Break)
_make_continue: Final = node_maker(cst.Continue)
_make_global: Final = node_maker(cst.Global, "names")
_make_nonlocal: Final = node_maker(cst.Nonlocal, "names")
_make_declared_name: Final = node_maker(cst.NameItem, "name")
_make_import: Final = node_maker(cst.Import, "names")
_make_import_from: Final = node_maker(cst.ImportFrom, "module", "names", "relative")
_make_imported_name: Final = node_maker(cst.ImportAlias, "name", "asname")
_make_star: Final = node_maker(cst.ImportStar)
_make_attribute: Final = node_maker(cst.Attribute, "value", "attr")
make_alias: Final = node_maker(cst.AsName, "name")

_DOT: Final = cst.Dot()
_AUGMENTED: Final[dict[type[ast.operator], cst.BaseAugOp]] = {
    ast.Add: cst.AddAssign(),
    ast.Sub: cst.SubtractAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
}


@converts(SIMPLE_STATEMENTS, ast.Expr)
def expression_statement(conversion: Conversion, node: ast.Expr) -> cst.Expr:
    """Return the libcst node of an expression statement."""
    return _make_expression_statement(conversion.expression(node.value))


@converts(SIMPLE_STATEMENTS, ast.Assign)
def assignment(conversion: Conversion, node: ast.Assign) -> cst.Assign:
    """Return the libcst node of `a = b = c`."""
    targets = tuple([_make_target(conversion.expression(one)) for one in node.targets])
    return _make_assignment(targets, conversion.expression(node.value))


@converts(SIMPLE_STATEMENTS, ast.AnnAssign)
def annotated_assignment(conversion: Conversion, node: ast.AnnAssign) -> cst.AnnAssign:
    """Return the libcst node of `a: b = c`."""
    note = make_annotation(conversion.expression(node.annotation))
    return _make_annotated_assignment(
        conversion.expression(node.target), note, conversion.expression_or_none(node.value)
    )


@converts(SIMPLE_STATEMENTS, ast.AugAssign)
def augmented_assignment(conversion: Conversion, node: ast.AugAssign) -> cst.AugAssign:
    """Return the libcst node of `a += b`."""
    target, value = conversion.expression(node.target), conversion.expression(node.value)
    return _make_augmented_assignment(target, _AUGMENTED[node.op.__class__], value)


@converts(SIMPLE_STATEMENTS, ast.Return)
def return_statement(conversion: Conversion, node: ast.Return) -> cst.Return:
    """Return the libcst node of a `return` statement."""
    return _make_return(conversion.expression_or_none(node.value))


@converts(SIMPLE_STATEMENTS, ast.Raise)
def raise_statement(conversion: Conversion, node: ast.Raise) -> cst.Raise:
    """Return the libcst node of `raise a from b`."""
    cause = None if node.cause is None else _make_cause(conversion.expression(node.cause))
    return _make_raise(conversion.expression_or_none(node.exc), cause)


@converts(SIMPLE_STATEMENTS, ast.Assert)
def assert_statement(conversion: Conversion, node: ast.Assert) -> cst.Assert:
    """Return the libcst node of an `assert` statement."""
    return _make_assert(conversion.expression(node.test), conversion.expression_or_none(node.msg))


@converts(SIMPLE_STATEMENTS, ast.Delete)
def del_statement(conversion: Conversion, node: ast.Delete) -> cst.Del:
    """Return the libcst node of a `del` statement, with a tuple for several targets and for `del a,`."""
    only = node.targets[0]
    if len(node.targets) > 1 or "," in conversion.punctuation(conversion.end(only), conversion.end(node)):
        return _make_deletion(tuple_of(conversion, node.targets))
    return _make_deletion(conversion.expression(only))


@converts(SIMPLE_STATEMENTS, ast.Pass)
def pass_statement(_: Conversion, _node: ast.Pass) -> cst.Pass:
    """Return the libcst node of a `pass` statement."""
    return _make_pass()


@converts(SIMPLE_STATEMENTS, ast.Break)
def break_statement(_: Conversion, _node: ast.Break) -> cst.Break:
    """Return the libcst node of a `break` statement."""
    return _make_break()


@converts(SIMPLE_STATEMENTS, ast.Continue)
def continue_statement(_: Conversion, _node: ast.Continue) -> cst.Continue:
    """Return the libcst node of a `continue` statement."""
    return _make_continue()


@converts(SIMPLE_STATEMENTS, ast.Global)
def global_statement(_: Conversion, node: ast.Global) -> cst.Global:
    """Return the libcst node of a `global` statement."""
    return _make_global(tuple(_make_declared_name(make_name(one)) for one in node.names))


@converts(SIMPLE_STATEMENTS, ast.Nonlocal)
def nonlocal_statement(_: Conversion, node: ast.Nonlocal) -> cst.Nonlocal:
    """Return the libcst node of a `nonlocal` statement."""
    return _make_nonlocal(tuple(_make_declared_name(make_name(one)) for one in node.names))


@converts(SIMPLE_STATEMENTS, ast.Import)
def import_statement(_: Conversion, node: ast.Import) -> cst.Import:
    """Return the libcst node of `import a.b as c`."""
    return _make_import(tuple(_imported_name(one) for one in node.names))


@converts(SIMPLE_STATEMENTS, ast.ImportFrom)
def import_from_statement(_: Conversion, node: ast.ImportFrom) -> cst.ImportFrom:
    """Return the libcst node of `from ..a import b as c`."""
    module = None if node.module is None else _dotted_name(node.module)
    names = _make_star() if node.names[0].name == "*" else tuple(_imported_name(one) for one in node.names)
    return _make_import_from(module, names, (_DOT,) * node.level)


def _imported_name(node: ast.alias) -> cst.ImportAlias:
    """Return the libcst node of one name of an import statement."""
    alias = None if node.asname is None else make_alias(make_name(node.asname))
    return _make_imported_name(_dotted_name(node.name), alias)


def _dotted_name(text: str) -> cst.Name | cst.Attribute:
    """Return the libcst node of a name such as `a.b`."""
    first, *others = text.split(".")
    whole: cst.Name | cst.Attribute = make_name(first)
    for one in others:
        whole = _make_attribute(whole, make_name(one))
    return whole
