"""Handlers of the patterns in a `match` statement: the condition under which each matches, and the names it binds."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Dict
from devlint.domain.objects import Sequence as SequenceObject
from devlint.domain.path_conditions import Atom, Literal, conjunction, disjunction
from devlint.domain.value import (
    UNKNOWN,
    Array,
    Const,
    Number,
    OpaqueData,
    ProgramDefinition,
    StringPrefix,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.comparisons import compare_with_constant
from devlint.interpreter.conditions.condition_texts import MatchText
from devlint.interpreter.conditions.instance_checks import instance_condition, instance_key, restrict_to_type
from devlint.interpreter.conditions.narrowing import none_condition, truth_condition
from devlint.interpreter.language.subscripts import get_item
from devlint.interpreter.objects.data_classes import data_fields
from devlint.interpreter.program.definitions import ClassInfo, names_bound_by
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend

MatchCondition = Literal | bool
"""The result of matching a pattern: a condition, True for a sure match, False for a sure mismatch."""


def match_pattern(frame: Frame, pattern: cst.MatchPattern, subject: Argument) -> MatchCondition:
    """Bind the names that a pattern captures, and return the condition under which the `match` subject matches it."""
    match pattern:
        case cst.MatchValue(value=node):
            return _match_value(frame, pattern, frame.evaluate(node), subject)
        case cst.MatchSingleton(value=node):
            if node.value == "None":
                return none_condition(frame, subject.value, subject.node)
            return _match_value(frame, pattern, frame.evaluate(node), subject)
        case cst.MatchAs(pattern=inner, name=name):
            answer = match_pattern(frame, inner, subject) if inner is not None else True
            if name is not None:
                frame.bind(name.value, _narrowed(frame, inner, subject.value))
            return answer
        case cst.MatchOr(patterns=choices):
            return _match_or(frame, [one.pattern for one in choices], subject)
        case cst.MatchSequence(patterns=parts):
            return _match_sequence(frame, pattern, parts, subject)
        case cst.MatchMapping():
            return _match_mapping(frame, pattern, subject)
        case cst.MatchClass():
            return _match_class(frame, pattern, subject)
    return _undecided_literal(frame, pattern, subject)


def _undecided_literal(frame: Frame, pattern: cst.CSTNode, subject: Argument) -> Literal:
    """Return a literal for the path condition that says that a pattern matches, where nothing decides whether it does.

    The literal is identified by the source location of the pattern.
    """
    return Literal(Atom(frame.site_key(pattern), MatchText(frame.place(pattern), subject.node, pattern)))


def conjunction_of_answers(answers: Sequence[MatchCondition]) -> MatchCondition:
    """Return the condition that several patterns all match, given the condition under which each of them matches."""
    result: MatchCondition = True
    for answer in answers:
        if answer is False or result is False:
            return False
        if isinstance(answer, Literal):
            result = conjunction(result, answer) if isinstance(result, Literal) else answer
    return result


def _match_value(frame: Frame, pattern: cst.MatchPattern, wanted: Value, subject: Argument) -> MatchCondition:
    """Return the condition that the subject of a `match` statement equals the value of a pattern."""
    if not isinstance(wanted, Const):
        return _undecided_literal(frame, pattern, subject)
    equal = compare_with_constant(
        frame, subject.value, wanted, pattern, MatchText(frame.place(pattern), subject.node, pattern)
    )
    test = truth_condition(frame, equal, subject.node) if not isinstance(equal, Number) else None
    return test if test is not None else _undecided_literal(frame, pattern, subject)


def _match_or(frame: Frame, patterns: Sequence[cst.MatchPattern], subject: Argument) -> MatchCondition:
    """Return the condition under which `a | b` matches, and join the values that both patterns bind to each name."""
    result: MatchCondition = False
    bound: dict[str, Value] = {}
    for pattern in patterns:
        answer = match_pattern(frame, pattern, subject)
        if answer is False:
            continue
        for name in (name for node in descend(pattern) for name in names_bound_by(node)):
            value = frame.state.names.get(name, UNKNOWN)
            bound[name] = join(bound[name], value) if name in bound else value
        result = disjunction(result, answer) if isinstance(result, Literal) and isinstance(answer, Literal) else answer
        if answer is True:
            break
    frame.state.names.update(bound)
    return result


def _match_sequence(
    frame: Frame,
    pattern: cst.MatchPattern,
    parts: Sequence[cst.MatchSequenceElement | cst.MatchStar],
    subject: Argument,
) -> MatchCondition:
    """Bind the names of a sequence pattern (`[a, b, *rest]`), and return the condition under which it matches."""
    if isinstance(subject.value, (Const, StringPrefix, Number, Tensor, Array)):
        return False
    found = _sequence_elements(frame, subject)
    star = next((i for i, one in enumerate(parts) if isinstance(one, cst.MatchStar)), None)
    items = found.items
    if items is None:
        answers: list[MatchCondition] = [_undecided_literal(frame, pattern, subject)]
        items = (found.element,) * len(parts)
        if star is not None:
            items = (*items[:star], *items[star + 1 :])
    elif len(items) < len(parts) - 1 if star is not None else len(items) != len(parts):
        return False
    else:
        answers = [True]
    after = len(parts) - (star + 1) if star is not None else 0
    for position, part in enumerate(parts):
        if isinstance(part, cst.MatchStar):
            rest = items[position : len(items) - after] if found.items is not None else None
            if part.name is not None:
                frame.bind(part.name.value, frame.allocate(part, SequenceObject(rest, found.element)))
        else:
            value = items[position if star is None or position < star else position - len(parts)]
            answers.append(match_pattern(frame, part.value, Argument(value, subject.node)))
    return conjunction_of_answers(answers)


def _sequence_elements(frame: Frame, subject: Argument) -> SequenceObject:
    """Return the elements of a `match` subject that a sequence pattern (`[a, b]`) may match.

    The elements of an unknown subject that has a name get names made from that name. The elements of a subject that is
    known to be no sequence are unknown.
    """
    value = subject.value
    if isinstance(value, Tuple):
        return SequenceObject(value.items, UNKNOWN, "tuple")
    thing = frame.object_of(value)
    if isinstance(thing, SequenceObject):
        return thing
    if isinstance(value, (Unknown, OpaqueData)):
        return SequenceObject(None, frame.iterate(value, subject.node).any)
    return SequenceObject(None, UNKNOWN)


def _match_mapping(frame: Frame, pattern: cst.MatchMapping, subject: Argument) -> MatchCondition:
    """Bind the names of a mapping pattern (`{"key": value, **rest}`), and return the condition for it to match."""
    thing = frame.object_of(subject.value)
    if isinstance(subject.value, (Const, StringPrefix, Number, Tensor, Array, Tuple)) or isinstance(
        thing, SequenceObject
    ):
        return False
    answers: list[MatchCondition] = []
    taken: list[object] = []
    for element in pattern.elements:
        key = frame.evaluate(element.key)
        taken.append(key.value if isinstance(key, Const) else ...)
        if isinstance(thing, Dict) and isinstance(key, Const) and key.value in thing.entries:
            value = thing.entries[key.value]
        elif isinstance(thing, Dict) and thing.element is None:
            return False
        else:
            value = get_item(frame, subject, [Argument(key, element.key)], element.key)
            answers.append(_undecided_literal(frame, pattern, subject))
        answers.append(match_pattern(frame, element.pattern, Argument(value, subject.node)))
    if pattern.rest is not None:
        others = Dict({}, UNKNOWN)
        if isinstance(thing, Dict):
            others = Dict({k: v for k, v in thing.entries.items() if k not in taken}, thing.element, thing.key)
        frame.bind(pattern.rest.value, frame.allocate(pattern, others))
    if not isinstance(thing, Dict):
        answers.append(_undecided_literal(frame, pattern, subject))
    return conjunction_of_answers(answers)


def _match_class(frame: Frame, pattern: cst.MatchClass, subject: Argument) -> MatchCondition:
    """Bind the names of a class pattern (`Point(x, y=0)`), and return the condition under which it matches."""
    type_ = frame.evaluate(pattern.cls)
    answer = instance_condition(frame, subject.value, type_)
    if answer is False:
        return False
    value = _narrowed(frame, pattern, subject.value)
    key = instance_key(frame, subject.value, type_, pattern)
    undecided = Literal(Atom(key, MatchText(frame.place(pattern), subject.node, pattern)))
    answers: list[MatchCondition] = [undecided if answer is None else answer]
    names = _positional_names(frame, type_)
    for position, element in enumerate(pattern.patterns):
        assert isinstance(element, cst.MatchSequenceElement)
        if names is None:
            part = value if position == 0 else UNKNOWN
        else:
            part = frame.get_attribute(value, names[position], pattern.cls) if position < len(names) else UNKNOWN
        answers.append(match_pattern(frame, element.value, Argument(part, subject.node)))
    for keyword in pattern.kwds:
        part = frame.get_attribute(value, keyword.key.value, pattern.cls)
        answers.append(match_pattern(frame, keyword.pattern, Argument(part, subject.node)))
    return conjunction_of_answers(answers)


def _positional_names(frame: Frame, type_: Value) -> list[str] | None:
    """Return the attributes that the positional patterns of a class pattern (`Point(x, y)`) match, in order.

    They are the fields of a dataclass or other record of the program. The result is None for classes that the program
    does not define, such as builtin ones, whose one positional pattern matches the subject itself.
    """
    if not (isinstance(type_, ProgramDefinition) and isinstance(type_.definition, ClassInfo)):
        return None
    return [one.name for one in data_fields(frame, type_.definition) or () if one.is_argument]


def _narrowed(frame: Frame, pattern: cst.MatchPattern | None, value: Value) -> Value:
    """Return the subject of a `match` statement narrowed to the class of a class pattern.

    For any other pattern, the subject is returned unchanged.
    """
    if not isinstance(pattern, cst.MatchClass):
        return value
    kept = restrict_to_type(frame, value, frame.evaluate(pattern.cls), True)
    return value if kept is None else kept
