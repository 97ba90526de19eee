"""The question what the functions and methods of a text return: tensors that they have made, or what they were given.

A tensor that a method combines with what it was given is on the same device, or the method itself raises. Only what a
method makes and gives away as it is can meet tensors of another device in the code that uses the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set
from enum import IntEnum
from typing import Final

from devlint.interpreter.program.plain_annotations import PLAIN_ANNOTATION
from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.ast_walk import walk_ast
from devlint.syntax.statement import Statement

_FACTS: Final = frozenset("shape size dtype ndim dim numel is_cuda type".split())
"""The attributes of a tensor that do not hold its data."""

_MOVES: Final = frozenset({"to", "type_as"})
"""The methods that put a tensor where an argument says."""

_NUMBER_FUNCTIONS: Final = frozenset("abs bool float int isinstance len max min range round sum".split())
"""The builtin functions that only calculate with numbers and sizes."""

_TORCH: Final = frozenset({"torch", "F", "math"})
"""The usual names of the modules whose functions place their results where their arguments are."""

_GIVING: Final = (ast.Return, ast.Yield)
_FOLLOWED: Final = (
    *_GIVING, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension
)  # fmt: skip
"""The nodes that bind names, or return something."""


class _Origin(IntEnum):
    """Where the data of a value come from: from no tensor, from one that the code has made, or from an argument."""

    PLAIN = 0
    MADE = 1
    GIVEN = 2


def giving_methods(unit: Statement, makers: Set[str]) -> frozenset[str] | None:
    """Return the names of the methods of a class that may return a tensor which comes from a call of a maker.

    `makers` are the names of such functions and methods. The result is None for a text that cannot be parsed.
    """
    tree = try_parse_ast(unit.text)
    if tree is None:
        return None
    origins: dict[str, _Origin] = {}
    body = [one for definition in tree.body if isinstance(definition, ast.ClassDef) for one in definition.body]
    functions = [one for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    methods = [_Method(one, origins, makers) for one in functions]
    while True:
        before = len(origins)
        for method in methods:
            method.follow()
        if len(origins) == before:
            break
    return frozenset(one.name for one in functions if f"self.{one.name}" in origins)


def gives_back_arguments(unit: Statement) -> bool:
    """Return whether all that a function returns comes from its arguments, by methods and functions of torch alone."""
    tree = try_parse_ast(unit.text)
    function = tree.body[0] if tree is not None and tree.body else None
    if not isinstance(function, ast.FunctionDef):
        return False
    method = _Method(function, {}, frozenset())
    method.follow()
    return method.gives_back_arguments()


class _Method:
    """One method, of which the assignments are followed in the order of the text, whatever its branches.

    `origins` are those of what attributes of `self` hold and of what its methods return, which the method may change.
    """

    def __init__(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, origins: dict[str, _Origin], makers: Set[str]
    ) -> None:
        self._node = node
        self._shared = origins
        self._makers = makers
        self._names = {one.arg: _Origin.GIVEN for one in _tensor_parameters(node)}
        nodes = [one for one in walk_ast(node) if isinstance(one, _FOLLOWED)]
        self._bindings = [one for one in nodes if not isinstance(one, _GIVING)]
        self._returned = [one.value for one in nodes if isinstance(one, _GIVING) and one.value is not None]

    def follow(self) -> None:
        """Follow the method's assignments, and note where what it stores and returns comes from.

        They are followed twice, since a statement may use what stands deeper in the text before it.
        """
        for node in (*self._bindings, *self._bindings):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._assign(target, self._origin(value))
                case ast.AugAssign(target=target, value=value):
                    self._assign(target, max(self._origin(target), self._origin(value)))
                case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                    self._assign(target, self._origin(value))
                case (
                    ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value)
                ):
                    self._assign(target, self._origin(value))
        if any(self._origin(part) is _Origin.MADE for one in self._returned for part in _parts(one)):
            self._shared[f"self.{self._node.name}"] = _Origin.MADE

    def gives_back_arguments(self) -> bool:
        """Return whether all that is returned comes from the arguments, without a call of unknown code."""
        nodes = walk_ast(self._node)
        unused = [one.value for one in nodes if isinstance(one, ast.Expr)]
        calls = [one.func for one in nodes if isinstance(one, ast.Call) and one not in unused]
        given = [self._origin(part) is _Origin.GIVEN for one in self._returned for part in _parts(one)]
        return bool(given) and all(given) and all(map(self._is_known, calls))

    def _is_known(self, function: ast.expr) -> bool:
        """Return whether a function is a builtin for numbers, a function of torch or a method of a value at hand."""
        match function:
            case ast.Name(id=name):
                return name in _NUMBER_FUNCTIONS
            case ast.Attribute(value=ast.Name(id=owner)):
                return owner in _TORCH or owner in self._names
        return True

    def _assign(self, target: ast.expr, origin: _Origin) -> None:
        """Note the origin of what a name, or an attribute of `self`, is bound to; what was made once stays that."""
        if isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._assign(one, origin)
        elif isinstance(target, ast.Name):
            known = self._names.get(target.id)
            self._names[target.id] = known if known is _Origin.MADE else origin
        elif origin is _Origin.MADE and isinstance(target, ast.Attribute):
            self._shared[ast.unparse(target)] = origin

    def _origin(self, node: ast.expr) -> _Origin:
        """Return where the data of an expression come from; an argument counts before what the code has made."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name, _Origin.PLAIN)
            case ast.Attribute(value=ast.Name(id="torch")):
                return _Origin.PLAIN
            case ast.Attribute(attr="device"):
                # A tensor that is made there is where something else is.
                return _Origin.GIVEN
            case ast.Attribute(attr=name) if name in _FACTS:
                return _Origin.PLAIN
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._shared.get(f"self.{name}", _Origin.PLAIN)
            case ast.Attribute(value=owner):
                return self._origin(owner)
            case ast.Call(func=function, args=arguments, keywords=keywords):
                given = [*map(self._origin, arguments), *(self._origin(keyword.value) for keyword in keywords)]
                if _name_of(function) in self._makers:
                    return self._placed(_name_of(function), arguments, keywords)
                return max([self._origin(function), *given])
            case ast.IfExp(body=first, orelse=second):
                branches = {self._origin(first), self._origin(second)}
                return _Origin.MADE if _Origin.MADE in branches else max(branches)
            case ast.Lambda() | ast.Constant():
                return _Origin.PLAIN
        inner = [self._origin(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        return max(inner, default=_Origin.PLAIN)

    def _placed(self, maker: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> _Origin:
        """Return where the tensor that a maker returns is: where an argument says, or the maker."""
        told = [keyword.value for keyword in keywords if keyword.arg == "device"]
        told += arguments if maker in _MOVES else []
        return _Origin.GIVEN if any(self._origin(one) is _Origin.GIVEN for one in told) else _Origin.MADE


def _name_of(function: ast.expr) -> str:
    """Return the last name of a function that is called; "" for one without a name."""
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _parts(node: ast.expr) -> Iterable[ast.expr]:
    """Yield what an expression gives: the items of a container that is written out, or itself."""
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Dict(values=items):
            for one in items:
                yield from _parts(one)
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords) if keywords:
            for keyword in keywords:
                yield from _parts(keyword.value)
        case _:
            yield node


def _tensor_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.arg]:
    """Yield the parameters of a function that may be tensors: no numbers by their annotation, and without a default."""
    arguments = node.args
    required = [*arguments.posonlyargs, *arguments.args]
    required = required[: len(required) - len(arguments.defaults)]
    for one in (*required, *arguments.kwonlyargs):
        plain = one.annotation is not None and PLAIN_ANNOTATION.fullmatch(ast.unparse(one.annotation))
        if one.arg != "self" and not plain:
            yield one
