"""The branches of a program that no run takes, because of the constants that all calls of a function pass to it.

A constructor is a function that is called by the name of its class; an attribute that only it sets, to the value of a
parameter, has that value.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.interpreter.program.program import Program
from devlint.linter.computed_members import ComputedMembers
from devlint.linter.project_texts import is_installed
from devlint.linter.reached_files import ENTRY_FILES
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unset_parameters import is_fetched, units_naming, uses_of
from devlint.syntax.ast_parsing import try_parse_ast

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class _Branch(NamedTuple):
    """A branch of an `if`: its test, and whether the branch is taken where the test holds."""

    test: ast.expr
    holds: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """The code around a row: the class and the function at the top of a file that hold it, and the branches in it."""

    owner: ast.ClassDef | None
    function: _Function
    branches: Sequence[_Branch]


class _Asked(NamedTuple):
    """What a test asks for: a parameter of a function, by its name or by the attribute that holds it, as written."""

    text: str
    name: str
    function: _Function


class UntakenBranches:
    """The answers to the question whether the branch around a row needs a value of a parameter that no call passes."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled
        self._members = ComputedMembers(program, uncalled)
        self._known: dict[tuple[ModuleInfo, str, str], frozenset[object] | None] = {}

    def parameter_at(self, module: ModuleInfo, row: int) -> str | None:
        """Return the name of the parameter that needs another value for a row to be reached; None if there is none."""
        unit = module.index.statement_at(row)
        if unit is None or unit.name is None:
            return None
        tree = try_parse_ast(unit.text)
        place = _place_of(tree.body, row - unit.first_row + 1) if tree is not None else None
        if place is None:
            return None
        around = {one.name for one in self._uncalled.definitions_at(module, row)}
        for branch in place.branches:
            for asked in _asked_by(branch.test, place):
                if _called_name(place.owner, asked.function) not in around or self._is_set_elsewhere(asked):
                    continue
                values = self._values(module, place.owner, asked.function, asked.name)
                if values is not None and all(
                    _holds(branch.test, asked.text, one) is (not branch.holds) for one in values
                ):
                    return asked.name
        return None

    def _values(
        self, module: ModuleInfo, owner: ast.ClassDef | None, function: _Function, name: str
    ) -> frozenset[object] | None:
        """Return the constants that calls pass for a parameter; None if there are others, or no calls."""
        key = module, f"{owner.name}.{function.name}" if owner is not None else function.name, name
        if key not in self._known:
            self._known[key] = self._compute(module, owner, function, name)
        return self._known[key]

    def _compute(
        self, module: ModuleInfo, owner: ast.ClassDef | None, function: _Function, name: str
    ) -> frozenset[object] | None:
        """Compute the answer of `_values`; the settings or documents may name a parameter that a call leaves out."""
        called = _called_name(owner, function)
        is_method = owner is not None and called == function.name
        if not self._knows_callers(module, called, is_method=is_method):
            return None
        files = self._uncalled.files_naming(module, called, is_method=is_method)
        if any(
            is_fetched(one, called) or self._members.may_be_reached(one, module, is_class=called != function.name)
            for one in files
        ):
            return None
        uses = [
            use
            for one in files
            for unit in units_naming(one, called)
            for use in uses_of(unit, called, is_method=is_method)
        ]
        default = None if self._uncalled.is_named_elsewhere(name) else _default(function, name)
        positions = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][owner is not None :]
        position = positions.index(name) if name in positions else None
        passed = [_passed(use, name, position, default) if use is not None else None for use in uses]
        known = [one[0] for one in passed if one is not None]
        return frozenset(known) if known and len(known) == len(passed) else None

    def _is_set_elsewhere(self, asked: _Asked) -> bool:
        """Return whether code of the project sets an attribute of an object that a test reads."""
        if asked.text == asked.name:
            return False
        attribute = asked.text.rpartition(".")[2]
        setting = re.compile(rf"(?<!\bself)\.{re.escape(attribute)}\s*=(?!=)")
        return any(attribute in one.source.text and setting.search(one.source.text) for one in self._uncalled.modules)

    def _knows_callers(self, module: ModuleInfo, called: str, *, is_method: bool) -> bool:
        """Return whether only the project calls a function, and by its name."""
        if called.startswith("__") or called in ("forward", "main") or module.path.stem in ENTRY_FILES:
            return False
        if is_test_file(module.path):
            return False
        if is_installed(module.path, self._program.disk) and not is_private_name(called):
            return False
        return not self._uncalled.is_named_elsewhere(called, is_method=is_method)


def _place_of(body: Sequence[ast.stmt], row: int) -> _Place | None:
    """Return the code around a row of a definition; None if it is outside of functions, or in a decorated one."""
    owner: ast.ClassDef | None = None
    function: _Function | None = None
    branches: list[_Branch] = []
    inner: Sequence[ast.stmt] = body
    while (node := next((one for one in inner if one.lineno <= row <= (one.end_lineno or 0)), None)) is not None:
        branches += [_Branch(one.test, holds=False) for one in inner if one.lineno < node.lineno and _leaves(one)]
        match node:
            case ast.ClassDef() if function is None and owner is None and not node.decorator_list:
                owner, inner = node, node.body
            case ast.FunctionDef() | ast.AsyncFunctionDef() if function is None and not node.decorator_list:
                function, inner = node, node.body
            case ast.If():
                held = next((part for part in (node.body, node.orelse) if _has_row(part, row)), None)
                if held is None:
                    break
                branches.append(_Branch(node.test, held is node.body))
                inner = held
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                break
            case _:
                parts = [getattr(node, each, ()) for each in ("body", "orelse", "finalbody")]
                parts += [each.body for each in getattr(node, "handlers", ())]
                inner = next((part for part in parts if isinstance(part, list) and _has_row(part, row)), ())
    return _Place(owner, function, branches) if function is not None and branches else None


def _leaves(node: ast.stmt) -> TypeGuard[ast.If]:
    """Return whether a statement is an `if` without `else` whose body leaves the statements around it at its end."""
    leaving = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], leaving)


def _has_row(body: Sequence[ast.stmt], row: int) -> bool:
    """Return whether some statements, one after the other, hold a row."""
    return bool(body) and body[0].lineno <= row <= (body[-1].end_lineno or 0)


def _asked_by(test: ast.expr, place: _Place) -> Iterator[_Asked]:
    """Yield the parameters that a test asks for, by their names or as attributes of `self`."""
    for node in ast.walk(test):
        match node:
            case ast.Name(id=name) if name in _names_of(place.function) and not _is_bound(name, place.function):
                yield _Asked(name, name, place.function)
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute) if place.owner is not None:
                made = _made_from_parameter(place.owner, attribute)
                if made is not None:
                    yield made


def _made_from_parameter(owner: ast.ClassDef, attribute: str) -> _Asked | None:
    """Return the parameter of the constructor of a class that an attribute holds, if nothing else sets it there."""
    init = next((one for one in owner.body if isinstance(one, _FUNCTIONS) and one.name == "__init__"), None)
    if init is None or init.decorator_list:
        return None
    sets = [
        node
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute) and node.attr == attribute and not isinstance(node.ctx, ast.Load)
    ]
    match [one for one in init.body if any(each in sets for each in ast.walk(one))]:
        case [ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=ast.Name(id=name))] if (
            len(sets) == 1 and name in _names_of(init) and not _is_bound(name, init)
        ):
            return _Asked(f"self.{attribute}", name, init)
    return None


def _called_name(owner: ast.ClassDef | None, function: _Function) -> str:
    """Return the name by which code calls a function: that of its class for a constructor."""
    return owner.name if owner is not None and function.name == "__init__" else function.name


def _names_of(function: _Function) -> Sequence[str]:
    """Return the names of the parameters of a function that one argument each is passed for."""
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _is_bound(name: str, function: _Function) -> bool:
    """Return whether the code of a function gives a name another value."""
    return any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Global | ast.Nonlocal) and name in node.names)
        for node in ast.walk(function)
    )


def _passed(call: cst.Call, name: str, position: int | None, default: ast.expr | None) -> tuple[object] | None:
    """Return the constant that a call passes for a parameter, as the only element of a tuple; None if unknown."""
    if any(one.star for one in call.args):
        return None
    positional = [one.value for one in call.args if one.keyword is None]
    given = next((one.value for one in call.args if one.keyword is not None and one.keyword.value == name), None)
    if given is None and position is not None and position < len(positional):
        given = positional[position]
    if given is not None:
        return _constant(cst.Module([]).code_for_node(given))
    return _constant(ast.unparse(default)) if default is not None else None


def _default(function: _Function, name: str) -> ast.expr | None:
    """Return the default value of a parameter."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(positional), reversed(given.defaults), strict=False)]
    pairs += [(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
    return next((default for one, default in pairs if one.arg == name), None)


def _constant(text: str) -> tuple[object] | None:
    """Return the value of an expression if it is a constant that can be compared, as the only element of a tuple."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return (value,) if value is None or isinstance(value, bool | int | float | str) else None


def _holds(test: ast.expr, asked: str, value: object) -> bool | None:
    """Return whether a test holds where what it asks for, as written, has a value; None if that does not decide it."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            held = _holds(inner, asked, value)
            return None if held is None else not held
        case ast.BoolOp(op=op, values=parts):
            return _together([_holds(one, asked, value) for one in parts], decisive=isinstance(op, ast.Or))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if ast.unparse(left) == asked:
            other = _constant(ast.unparse(right))
            compare = _COMPARISONS.get(type(op))
            if other is None or compare is None:
                return None
            try:
                return compare(value, other[0])
            except TypeError:
                return None
    return bool(value) if ast.unparse(test) == asked else None


def _together(answers: Iterable[bool | None], *, decisive: bool) -> bool | None:
    """Return the answer to several tests of which one that is `decisive` decides."""
    found = [*answers]
    if decisive in found:
        return decisive
    return None if None in found else not decisive
