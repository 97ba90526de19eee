"""Handlers of names, literals, displays (`[a, b]`), comprehensions, lambdas, conditional expressions and `yield`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Dict, Sequence, join_all
from devlint.domain.optional_items import with_conditions
from devlint.domain.path_conditions import Literal, entails
from devlint.domain.placement import without_index
from devlint.domain.value import (
    UNKNOWN,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    DeviceValue,
    ProgramDefinition,
    StringPrefix,
    Tuple,
    Value,
)
from devlint.interpreter.conditions.narrowing import condition_of, narrow, report_host_read
from devlint.interpreter.language.constants import KEYWORDS, Contents, Display, constant_contents, number_value
from devlint.interpreter.language.context_managers import suspend_at_yield
from devlint.interpreter.objects.collections import dict_with_entry, join_optional, merge_dicts
from devlint.interpreter.objects.live_elements import optional_keys, states_without
from devlint.interpreter.operations.accelerator_names import report_chosen_accelerator, text_of_accelerator
from devlint.interpreter.operations.copies_in_flight import report_writes_on_resuming, suspend_copies
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.unbound_names import is_bound_nowhere
from devlint.interpreter.state.abstract_state import State, join_all_states, join_states
from devlint.interpreter.state.frame import Frame, LoopFrame, evaluates
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import names_in_target


@evaluates(cst.Name)
def name(frame: Frame, node: cst.Name) -> Value:
    """Evaluate a name (a libcst `Name` node) by Python's scoping rules; a name that is bound nowhere is unknown."""
    value = frame.state.names.get(node.value) or KEYWORDS.get(node.value) or frame.lookup(node.value)
    if value is None:
        if _is_unbound_local(frame, node.value) or is_bound_nowhere(frame.module, node.value):
            frame.fail()
        return UNKNOWN
    if node.value in frame.state.bound_if and _may_be_unbound(frame, node.value):
        # Where the name is not bound, reading it raises an error.
        if entails(frame.state.path_condition, frame.state.bound_if[node.value]) is False:
            frame.fail()
        else:
            frame.state.require(frozenset((frame.state.bound_if.pop(node.value),)))
    return frame.under_path(value) if isinstance(value, ConditionalValue) else value


def _may_be_unbound(frame: Frame, name: str) -> bool:
    """Return whether a name that only some paths have bound is neither an import nor a definition of the file."""
    if frame.function is not None:
        return name in frame.function.locals
    if frame.analysis.module_frames.get(frame.module) is frame:
        return name not in frame.pending_statements and name not in frame.late_bindings
    return frame.analysis.global_name(frame.module, name) is None


def _is_unbound_local(frame: Frame, name: str) -> bool:
    """Return whether a name that has no value is a local one that surely no path to the code being run has bound."""
    return frame.function is not None and name in frame.analysis.facts.plain_locals(frame.function)


@evaluates(cst.Integer, cst.Float, cst.Imaginary)
def number(frame: Frame, node: cst.Integer | cst.Float | cst.Imaginary) -> Value:
    """Evaluate a literal that is a number."""
    return number_value(node)


@evaluates(cst.SimpleString, cst.ConcatenatedString)
def string(frame: Frame, node: cst.SimpleString | cst.ConcatenatedString) -> Value:
    """Evaluate a string literal, or several that Python concatenates (`"a" "b"`)."""
    value = string_value(node)
    if value is None and isinstance(node, cst.ConcatenatedString):
        frame.evaluate(node.left)
        frame.evaluate(node.right)
        return StringPrefix()
    return Const(value)


@evaluates(cst.FormattedString)
def formatted(frame: Frame, node: cst.FormattedString) -> Value:
    """Evaluate an f-string: a constant if all its parts are known, otherwise a string of which a prefix is known."""
    result: Value = Const("")
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            result = concatenated(result, Const(part.value))
        elif isinstance(part, cst.FormattedStringExpression):
            value = frame.evaluate(part.expression)
            report_host_read(frame, value, part.expression, "format()")
            value = text_of_accelerator(value) or value
            plain = part.conversion is None and part.format_spec is None
            result = concatenated(result, value if plain else StringPrefix())
    return result


def concatenated(left: Value, right: Value) -> Value:
    """Return the concatenation of two strings; once a part is unknown, only the prefix before that part is known."""
    match left, right:
        case StringPrefix(), _:
            return left
        case Const(value=str(one)), Const(value=str() | int() | float() as other):
            return Const(f"{one}{other}")
        case ConditionalValue(test=test, yes=yes, no=no), _:
            return join(concatenated(yes, right), concatenated(no, right), test)
        case _, ConditionalValue(test=test, yes=yes, no=no):
            return join(concatenated(left, yes), concatenated(left, no), test)
        case Const(value=""), DeviceType() | DeviceString():
            return right
        case Const(value=""), DeviceValue(placement=placement):
            return DeviceType(placement, whole=True)
        case DeviceType(placement=placement, whole=whole), _:
            start = DeviceString(placement if whole else without_index(placement), "")
            return concatenated(start, right)
        case DeviceString(is_open=False), Const(value=str() | int() as added):
            return replace(left, rest=f"{left.rest}{added}")
        case DeviceString(), _:
            return replace(left, is_open=True)
        case Const(value=one), StringPrefix(prefix=prefix):
            return StringPrefix(f"{one}{prefix}")
        case Const(value=one), _:
            return StringPrefix(str(one))
    return StringPrefix()


@evaluates(cst.Ellipsis)
def ellipsis(frame: Frame, node: cst.Ellipsis) -> Value:
    """Evaluate the constant `...`."""
    return Const(...)


@evaluates(cst.Tuple)
def tuple_(frame: Frame, node: cst.Tuple) -> Value:
    """Evaluate a tuple display such as `(a, *b)`; the tuple's length is unknown if that of a starred element is."""
    known = _constants(frame, node)
    if isinstance(known, Tuple):
        return known
    found = elements(frame, node.elements, "tuple")
    return Tuple(found.items) if found.items is not None else frame.allocate(node, found)


@evaluates(cst.List, cst.Set)
def list_(frame: Frame, node: cst.List | cst.Set) -> Value:
    """Evaluate a list display (`[a, b]`) or a set display (`{a, b}`)."""
    known = _constants(frame, node)
    if isinstance(known, Sequence):
        return frame.allocate(node, known)
    return frame.allocate(node, elements(frame, node.elements, "list" if isinstance(node, cst.List) else "set"))


def _constants(frame: Frame, node: Display) -> Contents | None:
    """Return what a display of constants holds; None for another display, and where every value is observed."""
    return constant_contents(node) if frame.analysis.observer is None else None


def elements(frame: Frame, nodes: Iterable[cst.BaseElement], kind: str) -> Sequence:
    """Evaluate the elements of a display such as `[a, *b]`, with starred iterables of known length unrolled.

    If a starred iterable has unknown length, the result is a sequence whose one element stands for all elements.
    """
    items: list[Value] = []
    known = True
    for element in nodes:
        value = frame.evaluate(element.value)
        if type(element) is not cst.StarredElement:
            items.append(value)
            continue
        unrolled = frame.iterate(value, element.value)
        known = known and unrolled.items is not None
        items.extend(unrolled.items if unrolled.items is not None else (unrolled.any,))
    return Sequence(tuple(items), kind=kind) if known else Sequence(None, join_all(items), kind)


@evaluates(cst.Dict)
def dict_(frame: Frame, node: cst.Dict) -> Value:
    """Evaluate a dict display such as `{"a": 1, **more}`."""
    known = _constants(frame, node)
    if isinstance(known, Dict):
        return frame.allocate(node, known)
    result = Dict({})
    for element in node.elements:
        if isinstance(element, cst.DictElement):
            key, value = frame.evaluate(element.key), frame.evaluate(element.value)
            result = dict_with_entry(result, key, value)
        else:
            inner = frame.evaluate(element.value)
            thing = frame.object_of(inner)
            if isinstance(thing, Dict):
                result = merge_dicts(result, thing)
            else:
                result = Dict(result.entries, join_optional(result.element, UNKNOWN), result.key)
    return frame.allocate(node, result)


@evaluates(cst.IfExp)
def conditional(frame: Frame, node: cst.IfExp) -> Value:
    """Evaluate `a if test else b`: one side if the path decides the test, otherwise the join of both sides."""
    values: list[Value] = []

    def side(holds: bool, expression: cst.BaseExpression) -> Callable[[], None]:
        def follow() -> None:
            narrow(frame, node.test, holds)
            if frame.state.live:
                values.append(frame.evaluate(expression))
                report_chosen_accelerator(frame, values[-1], expression)

        return follow

    known = truth(frame, node.test)
    if known is not None:
        side(known, node.body if known else node.orelse)()
        return values[0] if values else UNKNOWN
    test = condition_of(frame, node.test)
    ends = frame.branch(side(True, node.body), side(False, node.orelse))
    frame.state = join_states(*ends)
    reached = [end.live for end in ends]
    if not all(reached):
        return values[0] if values else UNKNOWN
    return join(values[0], values[1], test if isinstance(test, Literal) else None)


def truth(frame: Frame, node: cst.BaseExpression) -> bool | None:
    """Evaluate a condition; return whether it holds on the current path, or None if that is unknown."""
    test = condition_of(frame, node)
    if isinstance(test, bool):
        return test
    return entails(frame.state.path_condition, test) if test is not None else None


@evaluates(cst.NamedExpr)
def walrus(frame: Frame, node: cst.NamedExpr) -> Value:
    """Evaluate the assignment expression `(name := value)`."""
    value = frame.evaluate(node.value)
    if isinstance(node.target, cst.Name):
        frame.bind(node.target.value, value)
    return value


@evaluates(cst.Lambda)
def lambda_(frame: Frame, node: cst.Lambda) -> Value:
    """Evaluate a lambda expression, with the current frame as its closure."""
    return ProgramDefinition(closure(frame, node, "<lambda>"))


def closure(frame: Frame, node: cst.FunctionDef | cst.Lambda, name: str) -> FunctionInfo:
    """Return the function that a `def` or lambda defines, with the current frame as its closure.

    The default values of the function's parameters are evaluated at the same time. A nested definition gives one
    function for each chain of calls that runs the enclosing function, since its free names are looked up in the
    enclosing frame.
    """
    qualified = f"{frame.scope.name}.{name}" if frame.function is not None else name
    info = frame.analysis.function_definition(
        node, lambda: FunctionInfo(qualified, frame.module, frame.unit, lambda: node)
    )
    if info.context not in (None, frame.context):
        info = frame.analysis.function_definition((id(node), frame.context), lambda: copy(info))
    info.context, info.closure = frame.context, frame if frame.function is not None else None
    for parameter in info.parameters:
        if parameter.default is not None:
            frame.analysis.parameter_defaults[info, parameter.name] = frame.evaluate(parameter.default)
    return info


@evaluates(cst.Await)
def await_(frame: Frame, node: cst.Await) -> Value:
    """Evaluate `await x`: the awaited expression is evaluated like any other, as if it finished at once."""
    return frame.evaluate(node.expression)


@evaluates(cst.Yield)
def yield_(frame: Frame, node: cst.Yield) -> Value:
    """Evaluate `yield`: record the yielded value; the value sent back to the generator is unknown."""
    if frame.function is not None and frame.function.is_context_manager:
        suspend_at_yield(frame, node)
    match node.value:
        case cst.From(item=item):
            frame.yielded_values.append(frame.iterate(frame.evaluate(item), item).any)
        case None:
            frame.yielded_values.append(Const(None))
        case value:
            frame.yielded_values.append(frame.evaluate(value))
    suspend_copies(frame)
    return UNKNOWN


@dataclass(frozen=True, slots=True)
class _Elements:
    """The values of a comprehension's element expression.

    `exact` is true when they are exactly the elements, in order; otherwise they only stand for the elements. `filled`
    is the condition that there are any, where it is known. `perhaps` has the positions of values that may be missing,
    because a dict may lack their keys or a list may lack elements, each with the condition under which the value is
    there.
    """

    values: list[Value]
    exact: bool
    filled: Literal | bool | None = None
    perhaps: Mapping[int, Literal | None] = field(default_factory=dict)


@evaluates(cst.ListComp, cst.SetComp, cst.GeneratorExp)
def comprehension(frame: Frame, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> Value:
    """Evaluate a comprehension: once per element if the elements are known and few, otherwise once for all elements."""
    made = _comprehend(frame, node.for_in, lambda: frame.evaluate(node.elt))
    kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "iterator")
    if made.exact and not made.perhaps:
        return frame.allocate(node, Sequence(tuple(made.values), kind=kind))
    optional = with_conditions(made.values, made.perhaps) if made.exact and kind == "list" else ()
    return frame.allocate(node, Sequence(None, join_all(made.values), kind, filled=made.filled, optional=optional))


@evaluates(cst.DictComp)
def dict_comprehension(frame: Frame, node: cst.DictComp) -> Value:
    """Evaluate a dict comprehension; the dict has constant keys only if every element of its iterables is known."""
    made = _comprehend(frame, node.for_in, lambda: Tuple((frame.evaluate(node.key), frame.evaluate(node.value))))
    result = Dict({})
    for number, pair in enumerate(made.values):
        assert isinstance(pair, Tuple)
        key, value = pair.items
        added = dict_with_entry(result, key if made.exact or not isinstance(key, Const) else UNKNOWN, value)
        if number in made.perhaps and isinstance(key, Const) and key.value not in result.entries:
            added = replace(added, optional={**added.optional, key.value: made.perhaps[number]})
        result = added
    return frame.allocate(node, result)


def _comprehend(frame: Frame, clause: cst.CompFor, make: Callable[[], Value]) -> _Elements:
    """Return the values of a comprehension's element expression for one `for` clause and the clauses after it."""
    outer_names = frame.state.names
    found = frame.iterate(frame.evaluate(clause.iter), clause.iter)
    exact = found.items is not None or bool(found.optional)
    rounds = found.items if found.items is not None else tuple(one for one, _ in found.optional) or (found.element,)
    values: list[Value] = []
    keys = optional_keys(frame, found)
    source = frame.object_of(found.mapping)
    perhaps: dict[int, Literal | None] = {}
    frame.state.names = dict(outer_names)
    frame.loops.append(
        LoopFrame(
            frame.loop_at(clause.target, clause, counted=exact),
            clause,
            frame.analysis.facts.names_changed(clause),
            unrolled=exact,
        )
    )
    for position, item in enumerate(rounds):
        epoch = frame.state.torch_state.epoch
        condition = found.optional[position][1] if found.optional else None
        skipped = states_without(frame, condition)
        with frame.iteration(clause, position):
            made = _comprehend_element(frame, clause, item, make)
        if skipped:
            frame.state = join_all_states([frame.state, *skipped])
            perhaps |= dict.fromkeys(range(len(values), len(values) + len(made.values)), condition)
        report_writes_on_resuming(frame, found, frame.state, epoch)
        if position in keys and isinstance(source, Dict):
            added = range(len(values), len(values) + len(made.values))
            perhaps |= dict.fromkeys(added, source.optional[keys[position]])
        values.extend(made.values)
        exact = exact and made.exact
    frame.loops.pop()
    # A walrus inside a comprehension binds in the enclosing scope; the loop variables do not.
    inner_names, frame.state.names = frame.state.names, outer_names
    targets = set(names_in_target(clause.target))
    for name, value in inner_names.items():
        if name in outer_names and name not in targets:
            outer_names[name] = value
    filled = found.has_elements if clause.inner_for_in is None and not clause.ifs and not perhaps else None
    return _Elements(values, exact, filled, perhaps)


def _comprehend_element(frame: Frame, clause: cst.CompFor, item: Value, make: Callable[[], Value]) -> _Elements:
    """Return the values of a comprehension's element expression for one element of a `for` clause's iterable.

    They are not exact where an `if` clause is unknown, or an inner iterable's elements are.
    """
    path_condition = frame.state.path_condition
    skipped: State | None = None
    frame.assign(clause.target, item)
    for condition in clause.ifs:
        known = truth(frame, condition.test)
        if known is False:
            return _Elements([], True)
        if known is None and skipped is None:
            skipped = frame.state.fork()
        narrow(frame, condition.test, True)
    values: list[Value] = []
    exact = skipped is None
    if frame.state.live and clause.inner_for_in is not None:
        inner = _comprehend(frame, clause.inner_for_in, make)
        values, exact = inner.values, exact and inner.exact and not inner.perhaps
    elif frame.state.live:
        value = make()
        values = [value] if frame.state.live else []
    if skipped is not None:
        frame.state = join_states(skipped, frame.state)
    frame.state.live = frame.state.live or not frame.state.failed
    frame.state.path_condition = path_condition | frame.state.required
    return _Elements(values, exact)
