"""The decorators that only write documentation: they hand on the class or function that they are given, as it is.

A library of models decorates each of its classes so. What such a decorator computes is text, and need not be followed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.statement_reads import StatementReads
from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.index import Statement

_TEXTS: Final = frozenset("__annotations__ __code__ __doc__ __module__ __mro__ __name__ __qualname__".split())
"""The attributes of a definition that say what it is, and do nothing."""

_REFUSED: Final = frozenset("delattr eval exec globals locals setattr vars".split())
"""The builtins that may change a definition, or a global name."""

_CHANGES: Final = frozenset(
    "add append appendleft clear extend insert pop popitem register remove setdefault update".split()
)
"""The methods that change the object that they are called on, by their names."""

_BINDINGS: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
_BUILTINS: Final = frozenset(dir(builtins))
_REFUSED_NODES: Final = (
    *(ast.AsyncFunctionDef, ast.Await, ast.ClassDef, ast.Delete, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom),
)
"""What a function that only computes texts does not need."""


@dataclass(frozen=True, slots=True)
class _Decorator:
    """What a function that only writes documentation calls with its argument, by names.

    It returns the results of `makers`, and shows the argument to the `readers`.
    """

    makers: frozenset[str]
    readers: frozenset[str]


class DocumentingDecorators:
    """The answers to the question which functions of a program are such decorators; `reads` tells what they call."""

    def __init__(self, reads: StatementReads) -> None:
        self._reads = reads
        self._known: dict[Statement, bool] = {}

    def is_one(self, module: ModuleInfo, function: Statement) -> bool:
        """Return whether a top-level function is, or makes, a decorator that only writes documentation."""
        known = self._known.get(function)
        if known is None:
            self._known[function] = True  # Functions that return each other's results do nothing else.
            known = self._known[function] = self._is_one(module, function)
        return known

    def _is_one(self, module: ModuleInfo, function: Statement) -> bool:
        """Return what `is_one` returns for a function of which it has not been asked before."""
        decorator = _decorator_of(function)
        if decorator is None:
            return False
        found = {
            site.name: (home, site)
            for home, site in self._reads.direct_reads(module, function)
            if site.kind == "function" and site.name is not None
        }
        imported = {binding.name for unit in module.index.statements for binding in unit.imports}
        return all(name in found and self.is_one(*found[name]) for name in decorator.makers) and all(
            _only_reads(found[name][1]) if name in found else name in imported for name in decorator.readers
        )


def _decorator_of(unit: Statement) -> _Decorator | None:
    """Return what a function calls with its argument if it returns that, or a function of its own that does so.

    The result is None if it may do more than write documentation.
    """
    function = _function_of(unit)
    if function is None:
        return None
    nodes = [*ast.walk(function)]
    functions = [one for one in nodes if isinstance(one, ast.FunctionDef)]
    given = {one.arg for function in functions for one in [*_parameters(function)][:1]}
    own = {one.name for one in functions}
    returned = [one.value for one in nodes if isinstance(one, ast.Return)]
    if given & _assigned(nodes) or not returned or not all(_hands_on(one, given, own) for one in returned):
        return None
    made = _assigned(nodes) - {one.arg for one in nodes if isinstance(one, ast.arg)}
    calls = [one for one in nodes if isinstance(one, ast.Call)]
    if not all(_is_harmless(one, made) for one in nodes) or not all(_is_harmless_call(one, given) for one in calls):
        return None
    shown = {one.func.id for one in calls if isinstance(one.func, ast.Name) and _receives(one, given)}
    makers = {one.func.id for one in returned if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    return _Decorator(frozenset(makers - own), frozenset(shown - makers - own - _BUILTINS))


def _only_reads(unit: Statement) -> bool:
    """Return whether a function changes no attributes, and keeps its arguments in no global name, by its own text."""
    function = _function_of(unit)
    if function is None:
        return False
    nodes = [*ast.walk(function)]
    outside = {name for one in nodes if isinstance(one, ast.Global) for name in one.names}
    given = {one.arg for one in nodes if isinstance(one, ast.arg)}
    kept = [one for one in nodes if isinstance(one, _BINDINGS) and not outside.isdisjoint(_assigned(ast.walk(one)))]
    if any(_names(one.value, given) for one in kept if one.value is not None):
        return False
    local = (_assigned(nodes) | given) - outside
    return all(isinstance(one, ast.Global) or _is_harmless(one, local) for one in nodes)


def _function_of(unit: Statement) -> ast.FunctionDef | None:
    """Return the tree of the function that a statement defines; None for another statement."""
    tree = try_parse_ast(unit.text)
    first = tree.body[0] if tree is not None and tree.body else None
    return first if isinstance(first, ast.FunctionDef) else None


def _assigned(nodes: Iterable[ast.AST]) -> Set[str]:
    """Return the names that nodes bind."""
    return {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _parameters(function: ast.FunctionDef) -> Iterator[ast.arg]:
    """Yield the parameters of a function that a caller may pass by position, and then the others."""
    arguments = function.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one is not None)


def _is_harmless(node: ast.AST, local: Set[str]) -> bool:
    """Return whether a node changes nothing but documentation, and objects under the names `local`."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name in _TEXTS
        case ast.Subscript(value=owner, ctx=ast.Store()):
            return _root(owner) in local
        case ast.Call(func=ast.Name(id=name)):
            return name not in _REFUSED
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _CHANGES:
            return _root(owner) in local
    return not isinstance(node, _REFUSED_NODES)


def _is_harmless_call(node: ast.Call, given: Set[str]) -> bool:
    """Return whether a call does not call what is given, and shows it to a function only that has a name of its own."""
    match node.func:
        case ast.Name(id=name):
            return name not in given
        case ast.Attribute(value=owner):
            return not _names(owner, given) and (not _receives(node, given) or isinstance(owner, ast.Name))
    return False


def _hands_on(node: ast.expr | None, given: Set[str], own: Set[str]) -> bool:
    """Return whether what is returned is the argument, a function's own function, or a call with the argument."""
    match node:
        case ast.Name(id=name):
            return name in given or name in own
        case ast.Call(func=ast.Name(), args=[ast.Name(id=name), *_]):
            return name in given
    return False


def _receives(call: ast.Call, given: Set[str]) -> bool:
    """Return whether what is given, or a method of it, is an argument of a call; not only what it is called."""
    return any(_names(one, given) for one in (*call.args, *(keyword.value for keyword in call.keywords)))


def _names(node: ast.expr, given: Set[str]) -> bool:
    """Return whether an expression names what is given, other than to read a text of it."""
    if isinstance(node, ast.Attribute) and node.attr in _TEXTS:
        return False
    if isinstance(node, ast.Name):
        return node.id in given
    return any(_names(one, given) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))


def _root(node: ast.expr) -> str:
    """Return the name at the beginning of an expression such as `a.b[0]`; "" if there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
