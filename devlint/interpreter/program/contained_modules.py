"""The question whether a class may keep modules in a list, dict or tuple, told from its text.

`.to()` does not move the modules in such a container. Most containers of a model hold sizes and names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Final

from devlint.interpreter.program.plain_annotations import PLAIN_ANNOTATION
from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.ast_walk import walk_ast
from devlint.syntax.statement import Statement

_CONSTRUCTORS: Final = frozenset("list tuple set dict".split())
"""The builtin classes of containers."""

_MADE: Final = rf"(?:[\[{{(]|(?:{'|'.join(sorted(_CONSTRUCTORS))})\s*\()"
_STORED: Final = re.compile(rf"self\.\w+\s*(?::[^=\n]+)?=\s*{_MADE}")
"""Code that assigns a list, dict, set or tuple to an attribute of `self`, or something in parentheses."""

_LOCAL: Final = re.compile(rf"^[ \t]+(\w+)\s*(?::[^=\n]+)?=\s*{_MADE}", re.MULTILINE)
"""Code that assigns such a container to a local variable."""

_RETURNED: Final = re.compile(rf"\breturn\s+(?:{_MADE}|\w+\s*$)", re.MULTILINE)
"""Code that returns such a container, or a variable."""

_OF_METHOD: Final = re.compile(r"self\.\w+\s*(?::[^=\n]+)?=\s*self\.\w+\s*\(")
"""Code that assigns what a method of the class returns to an attribute of `self`."""

_PLAIN_CALLS: Final = frozenset("bool float int len max min range round str sum".split())
"""Builtin functions that never return a module."""

_CONTAINERS: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
"""The expressions that make containers."""

_PARAMETERS: Final = frozenset({"Parameter", "Buffer"})
"""The classes of tensors that move with the module that registers them."""

_VIEWS: Final = frozenset({"items", "values"})
"""The methods of a dict that give what is in it."""

_NUMERIC: Final = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
"""The operators that take no modules."""

_ORDERED: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
"""The comparisons that take no modules."""

_DEFINING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.arg, ast.Assign, ast.AnnAssign, ast.AugAssign)
_READ: Final = frozenset(
    {*_DEFINING, ast.For, ast.comprehension, ast.Return, ast.Call, ast.Subscript, ast.BinOp, ast.Compare}
)
"""The nodes that tell what containers hold."""

_BLOCKS: Final = frozenset({"body", "handlers", "orelse", "finalbody", "cases"})
"""The fields of statements that hold other statements."""

_FILLING: Final = frozenset({"append", "extend", "insert", "add"})
"""The methods that add an item to a container."""


def may_keep_modules_in_containers(unit: Statement) -> bool:
    """Return whether a class with a `forward` may keep modules in a container that is an attribute of its objects."""
    if "forward" not in unit.mentions or not _may_store_container(unit.text):
        return False
    tree = try_parse_ast(unit.text)
    if tree is None:
        return True
    nodes = _nodes_of(tree)
    holders = _Holders(nodes)
    if any(name.startswith("self.") for name in holders.of(_holds_parameters)):
        return True
    suspects = holders.of(lambda content: True)
    return bool(suspects) and any(f"self.{name}" in suspects for name in _containers_of_callables(nodes))


def may_return_modules_in_containers(unit: Statement) -> bool:
    """Return whether a function may return modules in a list, dict or tuple that it makes."""
    if not _RETURNED.search(unit.text):
        return False
    tree = try_parse_ast(unit.text)
    return tree is None or f"{unit.name}()" in _Holders(_nodes_of(tree)).of(lambda content: True)


def _may_store_container(text: str) -> bool:
    """Return whether a class may assign a container to an attribute: at once, from a variable, or from a method."""
    if _STORED.search(text) or (_OF_METHOD.search(text) and _RETURNED.search(text)):
        return True
    made = "|".join({*_LOCAL.findall(text)})
    return (
        bool(made) and re.search(rf"self\.\w+\s*(?::[^=\n]+)?=\s*(?:{made})\s*(?:#|$)", text, re.MULTILINE) is not None
    )


def _nodes_of(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of some code that bind, call, index, compare or calculate."""
    return [one for one in walk_ast(tree) if type(one) in _READ]


class _Holders:
    """The variables, attributes of `self` and results of functions that may hold modules in containers, in some code.

    They are named `x`, `self.x`, `f()` and `self.f()`. Variables of different functions are not told apart.
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        returned = [*_returned(nodes)]
        contents = [(name, part) for name, one in (*_contents(nodes), *returned) for part in _branches(one)]
        containers = {name for name, content in contents if _is_container(content)}
        plain = {*_plain_names(nodes)} - containers if containers else set()
        if containers:
            containers -= {f"self.{name}" for name in _holders_of_settings(nodes)}
        self._contents = [
            (name, content)
            for name, content in contents
            if name in containers
            and _may_hold_modules(content, plain)
            and (name.startswith("self.") or _has_call(content))
        ]
        self._same = [*_passed_on(nodes, returned)] if self._contents else []

    def of(self, question: Callable[[ast.expr], bool]) -> set[str]:
        """Return the names of the containers with a content for which a question is answered with yes."""
        found = {name for name, content in self._contents if question(content)}
        while more := {name for name, other in self._same if other in found} - found:
            found |= more
        return found


def _returned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield what functions return, with the names of their results."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            of_object = node.args.args and node.args.args[0].arg == "self"
            name = f"self.{node.name}()" if of_object else f"{node.name}()"
            for one in _statements(node):
                if isinstance(one, ast.Return) and one.value is not None:
                    yield name, one.value


def _statements(function: ast.FunctionDef) -> list[ast.AST]:
    """Return the statements in a function's body, also those inside other statements."""
    found: list[ast.AST] = [*function.body]
    for one in found:
        for name in one._fields:
            if name in _BLOCKS:
                found += getattr(one, name)
    return found


def _passed_on(nodes: Sequence[ast.AST], returned: Iterable[tuple[str, ast.expr]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names of which the first gets what the second holds; `returned` is what functions return."""
    for name, value in returned:
        yield from ((name, other) for other in _sources(value))
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = [holder for target in node.targets if (holder := _holder(target)) is not None]
            yield from ((name, other) for name in targets for other in _sources(node.value))


def _sources(node: ast.expr) -> Iterator[str]:
    """Yield the name of the variable or the function's result that an expression is, or is a copy of."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[copied]) if name in _CONSTRUCTORS:
            yield from _sources(copied)
        case ast.Subscript(value=copied, slice=ast.Slice()):
            yield from _sources(copied)
        case ast.Call(func=function):
            yield from (f"{name}()" for name in [_holder(function)] if name)
        case _:
            yield from (name for name in [_holder(node)] if name)


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the branches of a conditional expression that are containers; any other expression as it is."""
    if isinstance(node, ast.IfExp) and _is_container(node):
        yield from (part for one in (node.body, node.orelse) if _is_container(one) for part in _branches(one))
    else:
        yield node


def _has_call(node: ast.expr) -> bool:
    """Return whether an expression calls something; what it only names are mostly sizes."""
    return any(isinstance(one, ast.Call) for one in walk_ast(node))


def _holder(node: ast.expr) -> str | None:
    """Return the name of a variable or of an attribute of `self`; None for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return f"self.{node.attr}" if isinstance(node, ast.Attribute) and _is_own_attribute(node) else None


def _holds_parameters(node: ast.expr) -> bool:
    """Return whether an expression makes parameters, which are used without being called."""
    names = (getattr(one, "id", None) or getattr(one, "attr", None) for one in walk_ast(node))
    return not _PARAMETERS.isdisjoint(names)


def _containers_of_callables(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the attributes of `self` whose items are called, or may be: they are looped over or handed on."""
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Subscript(value=owner)):
                yield from _attributes_in(owner)
            case ast.Call(func=ast.Name(id=name)) if name in _PLAIN_CALLS:
                pass
            case ast.Call(func=function, args=arguments, keywords=keywords):
                views = [function.value] if isinstance(function, ast.Attribute) and function.attr in _VIEWS else []
                for one in (*views, *arguments, *(keyword.value for keyword in keywords)):
                    yield from _attributes_in(one)
            case ast.For(iter=value) | ast.comprehension(iter=value) | ast.Return(value=ast.expr() as value):
                yield from _attributes_in(value)
            case ast.Assign(targets=targets, value=value):
                if not all(isinstance(one, ast.Name) and one.id not in called for one in targets):
                    yield from _attributes_in(value)


def _holders_of_settings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the attributes of `self` with items that are asked for a text key: these are dicts of sizes and names."""
    for node in nodes:
        match node:
            case ast.Subscript(value=ast.Subscript(value=owner), slice=ast.Constant(value=str())):
                yield from _attributes_in(owner)
            case ast.comprehension(target=ast.Name(id=item), iter=ast.Attribute() as owner):
                if _is_own_attribute(owner) and any(_asks_for_text(one, item) for one in nodes):
                    yield owner.attr


def _asks_for_text(node: ast.AST, name: str) -> bool:
    """Return whether an expression is the item of a named dict under a text key."""
    match node:
        case ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=str())):
            return found == name
    return False


def _plain_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names and attributes of `self`, as text, with which code calculates, or that are annotated as plain."""
    for node in nodes:
        match node:
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _NUMERIC):
                yield from _holders_among(left, right)
            case ast.Compare(left=left, ops=operators, comparators=others):
                if all(isinstance(one, _ORDERED) for one in operators):
                    yield from _holders_among(left, *others)
            case ast.arg(arg=name, annotation=ast.expr() as annotation):
                if PLAIN_ANNOTATION.fullmatch(ast.unparse(annotation)):
                    yield name


def _holders_among(*nodes: ast.expr) -> Iterator[str]:
    """Yield the names of those expressions that are variables or attributes of `self`."""
    yield from (name for one in nodes if (name := _holder(one)) is not None)


def _attributes_in(node: ast.expr) -> Iterator[str]:
    """Yield the attribute of `self` that an expression is, is an item of, or may be."""
    match node:
        case ast.Attribute(attr=name) if _is_own_attribute(node):
            yield name
        case ast.Subscript(value=owner) | ast.Starred(value=owner):
            yield from _attributes_in(owner)
        case ast.IfExp(body=first, orelse=second):
            yield from _attributes_in(first)
            yield from _attributes_in(second)
        case ast.BoolOp(values=items) | ast.Tuple(elts=items) | ast.List(elts=items):
            for one in items:
                yield from _attributes_in(one)


def _contents(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the containers that code assigns to variables and attributes of `self`, and what it adds to those."""
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=ast.expr() as value):
                for target in targets:
                    yield from _assigned(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                yield from _assigned(target, value)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[*_, item]):
                if name in _FILLING and (holder := _holder(owner)) is not None:
                    yield holder, item


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield an assigned value, with a name, if it is a container or goes to an item of a variable or attribute."""
    match target:
        case ast.Subscript(value=owner) if (holder := _holder(owner)) is not None:
            yield holder, value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            for one in targets:
                yield from _assigned(one, value)
        case _ if _is_container(value) and (holder := _holder(target)) is not None:
            yield holder, value


def _is_container(node: ast.expr) -> bool:
    """Return whether an expression is written as a container, on one of its branches at least."""
    match node:
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, right=second):
            return _is_container(first) or _is_container(second)
        case ast.Call(func=ast.Name(id=name)) if name in _CONSTRUCTORS:
            return True
    return isinstance(node, _CONTAINERS)


def _is_own_attribute(node: ast.expr) -> bool:
    """Return whether an expression is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _may_hold_modules(node: ast.expr, plain: Set[str]) -> bool:
    """Return whether the value of an expression may be a module, or a container of modules.

    `plain` are names and attributes of `self` that are numbers or texts.
    """
    items: Sequence[ast.expr]
    match node:
        case ast.Constant() | ast.Compare() | ast.JoinedStr() | ast.UnaryOp():
            return False
        case ast.Call(func=ast.Name(id=name)) if name in _PLAIN_CALLS:
            return False
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))) | ast.Subscript(slice=ast.Slice()):
            # What a slice holds is known from what it is cut out of.
            return False
        case ast.Call(func=ast.Name(id=name), args=items) if name in _CONSTRUCTORS:
            return any(map(_is_container, items)) and any(_may_hold_modules(one, plain) for one in items)
        case ast.Name() | ast.Attribute():
            return ast.unparse(node) not in plain
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) | ast.BoolOp(values=items):
            return any(_may_hold_modules(one, plain) for one in items)
        case ast.Dict(values=items):
            return any(_may_hold_modules(one, plain) for one in items)
        case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item) | ast.DictComp(value=item):
            return _may_hold_modules(item, plain)
        case ast.IfExp(body=first, orelse=second):
            return _may_hold_modules(first, plain) or _may_hold_modules(second, plain)
        case ast.BinOp(left=first, right=second):
            # Only containers are added, or multiplied by a number, to give a container.
            return any(_may_hold_modules(one, plain) for one in (first, second) if _is_container(one))
    return True
