"""The value of each kind of expression that is not a call, an attribute, an index or an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import lru_cache
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Dict, Sequence, join_all
from devlint.domain.path_conditions import Literal, entails
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    ConditionalValue,
    Const,
    ProgramDefinition,
    Ref,
    StringPrefix,
    Tuple,
    Value,
)
from devlint.interpreter.conditions.narrowing import condition_of, narrow
from devlint.interpreter.language.context_managers import suspend_at_yield
from devlint.interpreter.objects.collections import dict_with_entry, join_optional, merge_dicts
from devlint.interpreter.program.definitions import FunctionInfo, names_in_target
from devlint.interpreter.state.abstract_state import State, join_states
from devlint.interpreter.state.frame import Frame, LoopFrame, evaluates
from devlint.syntax.string_literals import string_value

KEYWORDS: Final = {"None": NONE, "True": Const(True), "False": Const(False)}
"""The constants that are written as names."""

MAX_LITERALS: Final = 1000
"""Number and string literals whose values are kept: the few that programs are full of."""


@evaluates(cst.Name)
def name(run: Frame, node: cst.Name) -> Value:
    """A name: by Python's scoping, or unknown."""
    value = run.state.names.get(node.value) or KEYWORDS.get(node.value) or run.lookup(node.value)
    if value is None:
        return UNKNOWN
    return run.decided(value) if isinstance(value, ConditionalValue) else value


@evaluates(cst.Integer)
def integer(run: Frame, node: cst.Integer) -> Value:
    """An integer literal."""
    return _integer(node.value)


@lru_cache(MAX_LITERALS)
def _integer(text: str) -> Const:
    return Const(int(text, 0))


@evaluates(cst.Float, cst.Imaginary)
def number(run: Frame, node: cst.Float | cst.Imaginary) -> Value:
    """A number literal with a point, or an imaginary one."""
    return Const(float(node.value) if isinstance(node, cst.Float) else complex(node.value))


@evaluates(cst.SimpleString, cst.ConcatenatedString)
def string(run: Frame, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    """A string literal, implicit concatenation included."""
    value = string_value(node)
    if value is None and isinstance(node, cst.ConcatenatedString):
        run.evaluate(node.left)
        run.evaluate(node.right)
        return StringPrefix()
    return Const(value)


@evaluates(cst.FormattedString)
def formatted(run: Frame, node: cst.FormattedString) -> Value:
    """An f-string: known when its parts are, else known by its beginning."""
    result: Value = Const("")
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            result = concatenated(result, Const(part.value))
        elif isinstance(part, cst.FormattedStringExpression):
            value = run.evaluate(part.expression)
            plain = part.conversion is None and part.format_spec is None
            result = concatenated(result, value if plain else StringPrefix())
    return result


def concatenated(left: Value, right: Value) -> Value:
    """Two pieces of text in a row; what follows something unknown is not looked at."""
    match left, right:
        case StringPrefix(), _:
            return left
        case Const(value=str(one)), Const(value=str() | int() | float() as other):
            return Const(f"{one}{other}")
        case ConditionalValue(test=test, yes=yes, no=no), _:
            return join(concatenated(yes, right), concatenated(no, right), test)
        case _, ConditionalValue(test=test, yes=yes, no=no):
            return join(concatenated(left, yes), concatenated(left, no), test)
        case Const(value=one), StringPrefix(prefix=prefix):
            return StringPrefix(f"{one}{prefix}")
        case Const(value=one), _:
            return StringPrefix(str(one))
    return StringPrefix()


@evaluates(cst.Ellipsis)
def ellipsis(run: Frame, node: cst.Ellipsis) -> Value:
    """`...`."""
    return Const(...)


@evaluates(cst.Tuple)
def tuple_(run: Frame, node: cst.Tuple) -> Value:
    """A tuple; of unknown length when a star inside cannot be unrolled."""
    found = elements(run, node.elements, "tuple")
    return Tuple(found.items) if found.items is not None else run.allocate(node, found)


@evaluates(cst.List, cst.Set)
def list_(run: Frame, node: cst.List | cst.Set) -> Value:
    """A list or set display."""
    return run.allocate(node, elements(run, node.elements, "list" if isinstance(node, cst.List) else "set"))


def elements(run: Frame, nodes: Iterable[cst.BaseElement], kind: str) -> Sequence:
    """The values of a display's elements, stars unrolled; one that stands for all when a star has unknown length."""
    items: list[Value] = []
    known = True
    for element in nodes:
        value = run.evaluate(element.value)
        if type(element) is not cst.StarredElement:
            items.append(value)
            continue
        unrolled = run.iterate(value, element.value)
        known = known and unrolled.items is not None
        items.extend(unrolled.items if unrolled.items is not None else (unrolled.any,))
    return Sequence(tuple(items), kind=kind) if known else Sequence(None, join_all(items), kind)


@evaluates(cst.Dict)
def dict_(run: Frame, node: cst.Dict) -> Value:
    """A dict display, `**` included."""
    result = Dict({})
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key, value = run.evaluate(element.key), run.evaluate(element.value)
            result = dict_with_entry(result, key, value)
        else:
            inner = run.evaluate(element.value)
            thing = run.get(inner.address) if isinstance(inner, Ref) else None
            if isinstance(thing, Dict):
                result = merge_dicts(result, thing)
            else:
                result = Dict(result.entries, join_optional(result.element, UNKNOWN), result.key)
    return run.allocate(node, result)


@evaluates(cst.IfExp)
def conditional(run: Frame, node: cst.IfExp) -> Value:
    """`a if test else b`: both, under the condition, unless the path decides it."""
    values: list[Value] = []

    def side(holds: bool, expression: cst.BaseExpression) -> Callable[[], None]:
        def follow() -> None:
            narrow(run, node.test, holds)
            if run.state.live:
                values.append(run.evaluate(expression))

        return follow

    known = truth(run, node.test)
    if known is not None:
        side(known, node.body if known else node.orelse)()
        return values[0] if values else UNKNOWN
    test = condition_of(run, node.test)
    ends = run.branch(side(True, node.body), side(False, node.orelse))
    run.state = join_states(*ends)
    reached = [end.live for end in ends]
    if not all(reached):
        return values[0] if values else UNKNOWN
    return join(values[0], values[1], test if isinstance(test, Literal) else None)


def truth(run: Frame, node: cst.BaseExpression) -> bool | None:
    """Whether a condition holds on this path, None where that is not known; evaluates it for its effects."""
    test = condition_of(run, node)
    if isinstance(test, bool):
        return test
    return entails(run.state.facts, test) if test is not None else None


@evaluates(cst.NamedExpr)
def walrus(run: Frame, node: cst.NamedExpr) -> Value:
    """`(name := value)`."""
    value = run.evaluate(node.value)
    if isinstance(node.target, cst.Name):
        run.bind(node.target.value, value)
    return value


@evaluates(cst.Lambda)
def lambda_(run: Frame, node: cst.Lambda) -> Value:
    """A lambda, with the code around it as its closure."""
    return ProgramDefinition(closure(run, node, "<lambda>"))


def closure(run: Frame, node: cst.FunctionDef | cst.Lambda, name: str) -> FunctionInfo:
    """The function defined here. It finds its free names in the code around it: one that was run by another call makes
    another function."""
    qualified = f"{run.scope.name}.{name}" if run.function is not None else name
    info = run.engine.function(node, lambda: FunctionInfo(qualified, run.module, run.unit, lambda: node))
    if info.context not in (None, run.context):
        info = run.engine.function((id(node), run.context), lambda: copy(info))
    info.context, info.closure = run.context, run if run.function is not None else None
    for parameter in info.parameters:
        if parameter.default is not None:
            run.engine.defaults[info, parameter.name] = run.evaluate(parameter.default)
    return info


@evaluates(cst.Await)
def await_(run: Frame, node: cst.Await) -> Value:
    """What is awaited is run at once."""
    return run.evaluate(node.expression)


@evaluates(cst.Yield)
def yield_(run: Frame, node: cst.Yield) -> Value:
    """A generator's value; what is sent back is unknown."""
    if run.function is not None and run.function.is_context:
        suspend_at_yield(run, node)
    match node.value:
        case cst.From(item=item):
            run.yielded.append(run.iterate(run.evaluate(item), item).any)
        case None:
            run.yielded.append(Const(None))
        case value:
            run.yielded.append(run.evaluate(value))
    return UNKNOWN


@evaluates(cst.ListComp, cst.SetComp, cst.GeneratorExp)
def comprehension(run: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    """A comprehension: element by element over a short known sequence, else once for all."""
    values, exact = _comprehend(run, node.for_in, lambda: run.evaluate(node.elt))
    kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "iterator")
    thing = Sequence(tuple(values), kind=kind) if exact else Sequence(None, join_all(values), kind)
    return run.allocate(node, thing)


@evaluates(cst.DictComp)
def dict_comprehension(run: Frame, node: cst.DictComp) -> Value:
    """A dict comprehension; the keys of a known dict are kept."""
    pairs, exact = _comprehend(run, node.for_in, lambda: Tuple((run.evaluate(node.key), run.evaluate(node.value))))
    result = Dict({})
    for pair in pairs:
        assert isinstance(pair, Tuple)
        key, value = pair.items
        result = dict_with_entry(result, key if exact or not isinstance(key, Const) else UNKNOWN, value)
    return run.allocate(node, result)


def _comprehend(run: Frame, clause: cst.CompFor, make: Callable[[], Value]) -> tuple[list[Value], bool]:
    """The values a comprehension makes, and whether they are exactly its elements in order."""
    outer_names = run.state.names
    found = run.iterate(run.evaluate(clause.iter), clause.iter)
    exact = found.items is not None
    rounds = found.items if found.items is not None else (found.element,)
    values: list[Value] = []
    run.state.names = dict(outer_names)
    run.loops.append(LoopFrame(run.loop_at(clause.target), clause, run.engine.assigned(clause), unrolled=exact))
    for position, item in enumerate(rounds):
        with run.round(clause, position):
            made, all_of_them = _round(run, clause, item, make)
        values.extend(made)
        exact = exact and all_of_them
    run.loops.pop()
    # The walrus is the one thing inside that binds outside; loop variables stay within.
    inner_names, run.state.names = run.state.names, outer_names
    targets = set(names_in_target(clause.target))
    for name, value in inner_names.items():
        if name in outer_names and name not in targets:
            outer_names[name] = value
    return values, exact


def _round(run: Frame, clause: cst.CompFor, item: Value, make: Callable[[], Value]) -> tuple[list[Value], bool]:
    """What one element gives, and whether it surely does."""
    facts = run.state.facts
    skipped: State | None = None
    run.assign(clause.target, item)
    for condition in clause.ifs:
        known = truth(run, condition.test)
        if known is False:
            return [], True
        if known is None and skipped is None:
            skipped = run.state.fork()
        narrow(run, condition.test, True)
    values: list[Value] = []
    exact = skipped is None
    if run.state.live and clause.inner_for_in is not None:
        values, inner_exact = _comprehend(run, clause.inner_for_in, make)
        exact = exact and inner_exact
    elif run.state.live:
        value = make()
        values = [value] if run.state.live else []
    if skipped is not None:
        run.state = join_states(skipped, run.state)
    run.state.live = True
    run.state.facts = facts
    return values, exact
