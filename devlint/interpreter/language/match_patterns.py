"""The patterns of a `match` statement: whether the subject matches, and what the pattern binds."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Dict
from devlint.domain.objects import Sequence as SequenceObject
from devlint.domain.path_conditions import Atom, Test, both, either
from devlint.domain.value import (
    UNKNOWN,
    Array,
    Batch,
    Callable_,
    Const,
    Number,
    Ref,
    Tensor,
    Text,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.comparisons import equals_constant
from devlint.interpreter.conditions.instance_checks import instance_test, restricted
from devlint.interpreter.conditions.narrowing import none_test, value_test
from devlint.interpreter.language.subscripts import get_item
from devlint.interpreter.objects.data_classes import data_fields
from devlint.interpreter.program.definitions import ClassInfo, bound_by
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Run
from devlint.syntax.tree_walk import descend

Answer = Test | bool


class Matching:
    """How a case reads as a condition, written out only when somebody reads it."""

    __slots__ = ("pattern", "subject")

    def __init__(self, subject: cst.CSTNode, pattern: cst.CSTNode) -> None:
        self.subject = subject
        self.pattern = pattern

    def __str__(self) -> str:
        subject, pattern = (cst.Module([]).code_for_node(one) for one in (self.subject, self.pattern))
        relation = "==" if isinstance(self.pattern, cst.MatchValue) else "matches"
        return " ".join(f"{subject} {relation} {pattern}".split())


def match_pattern(run: Run, pattern: cst.MatchPattern, subject: Argument) -> Answer:
    """Bind what the pattern captures; the condition under which it matches."""
    match pattern:
        case cst.MatchValue(value=node):
            return _match_value(run, pattern, run.evaluate(node), subject)
        case cst.MatchSingleton(value=node):
            if node.value == "None":
                return none_test(run, subject.value, subject.node)
            return _match_value(run, pattern, run.evaluate(node), subject)
        case cst.MatchAs(pattern=inner, name=name):
            answer = match_pattern(run, inner, subject) if inner is not None else True
            if name is not None:
                run.bind(name.value, _narrowed(run, inner, subject.value))
            return answer
        case cst.MatchOr(patterns=choices):
            return _match_any(run, [one.pattern for one in choices], subject)
        case cst.MatchSequence(patterns=parts):
            return _match_sequence(run, pattern, parts, subject)
        case cst.MatchMapping():
            return _match_mapping(run, pattern, subject)
        case cst.MatchClass():
            return _match_class(run, pattern, subject)
    return _undecided(run, pattern, subject)


def _undecided(run: Run, pattern: cst.CSTNode, subject: Argument) -> Test:
    return Test(Atom(run.here(pattern), Matching(subject.node, pattern)))


def conjunction(answers: Sequence[Answer]) -> Answer:
    """The condition that several conditions hold."""
    result: Answer = True
    for answer in answers:
        if answer is False or result is False:
            return False
        if isinstance(answer, Test):
            result = both(result, answer) if isinstance(result, Test) else answer
    return result


def _match_value(run: Run, pattern: cst.MatchPattern, wanted: Value, subject: Argument) -> Answer:
    if not isinstance(wanted, Const):
        return _undecided(run, pattern, subject)
    equal = equals_constant(run, subject.value, wanted, pattern, Matching(subject.node, pattern))
    test = value_test(run, equal, subject.node) if not isinstance(equal, Number) else None
    return test if test is not None else _undecided(run, pattern, subject)


def _match_any(run: Run, patterns: Sequence[cst.MatchPattern], subject: Argument) -> Answer:
    """`a | b`: what the alternatives bind is what either of them does."""
    result: Answer = False
    bound: dict[str, Value] = {}
    for pattern in patterns:
        answer = match_pattern(run, pattern, subject)
        if answer is False:
            continue
        for name in (name for node in descend(pattern) for name in bound_by(node)):
            value = run.state.names.get(name, UNKNOWN)
            bound[name] = join(bound[name], value) if name in bound else value
        result = either(result, answer) if isinstance(result, Test) and isinstance(answer, Test) else answer
        if answer is True:
            break
    run.state.names.update(bound)
    return result


def _match_sequence(
    run: Run,
    pattern: cst.MatchPattern,
    parts: Sequence[cst.MatchSequenceElement | cst.MatchStar],
    subject: Argument,
) -> Answer:
    if isinstance(subject.value, (Const, Text, Number, Tensor, Array)):
        return False
    found = _elements(run, subject)
    star = next((i for i, one in enumerate(parts) if isinstance(one, cst.MatchStar)), None)
    items = found.items
    if items is None:
        answers: list[Answer] = [_undecided(run, pattern, subject)]
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
                run.bind(part.name.value, run.allocate(part, SequenceObject(rest, found.element)))
        else:
            value = items[position if star is None or position < star else position - len(parts)]
            answers.append(match_pattern(run, part.value, Argument(value, subject.node)))
    return conjunction(answers)


def _elements(run: Run, subject: Argument) -> SequenceObject:
    """The elements of what may be a sequence; a named unknown's are parts of it."""
    value = subject.value
    if isinstance(value, Tuple):
        return SequenceObject(value.items, UNKNOWN, "tuple")
    thing = run.get(value.address) if isinstance(value, Ref) else None
    if isinstance(thing, SequenceObject):
        return thing
    if isinstance(value, (Unknown, Batch)):
        return SequenceObject(None, run.iterate(value, subject.node).any)
    return SequenceObject(None, UNKNOWN)


def _match_mapping(run: Run, pattern: cst.MatchMapping, subject: Argument) -> Answer:
    thing = run.get(subject.value.address) if isinstance(subject.value, Ref) else None
    if isinstance(subject.value, (Const, Text, Number, Tensor, Array, Tuple)) or isinstance(thing, SequenceObject):
        return False
    answers: list[Answer] = []
    taken: list[object] = []
    for element in pattern.elements:
        key = run.evaluate(element.key)
        taken.append(key.value if isinstance(key, Const) else ...)
        if isinstance(thing, Dict) and isinstance(key, Const) and key.value in thing.entries:
            value = thing.entries[key.value]
        elif isinstance(thing, Dict) and thing.element is None:
            return False
        else:
            value = get_item(run, subject, [Argument(key, element.key)], element.key)
            answers.append(_undecided(run, pattern, subject))
        answers.append(match_pattern(run, element.pattern, Argument(value, subject.node)))
    if pattern.rest is not None:
        others = Dict({}, UNKNOWN)
        if isinstance(thing, Dict):
            others = Dict({k: v for k, v in thing.entries.items() if k not in taken}, thing.element, thing.key)
        run.bind(pattern.rest.value, run.allocate(pattern, others))
    if not isinstance(thing, Dict):
        answers.append(_undecided(run, pattern, subject))
    return conjunction(answers)


def _match_class(run: Run, pattern: cst.MatchClass, subject: Argument) -> Answer:
    type_ = run.evaluate(pattern.cls)
    answer = instance_test(run, subject.value, type_)
    if answer is False:
        return False
    value = _narrowed(run, pattern, subject.value)
    answers: list[Answer] = [_undecided(run, pattern, subject) if answer is None else answer]
    names = _positional_names(run, type_)
    for position, element in enumerate(pattern.patterns):
        assert isinstance(element, cst.MatchSequenceElement)
        if names is None:
            part = value if position == 0 else UNKNOWN
        else:
            part = run.get_attribute(value, names[position], pattern.cls) if position < len(names) else UNKNOWN
        answers.append(match_pattern(run, element.value, Argument(part, subject.node)))
    for keyword in pattern.kwds:
        part = run.get_attribute(value, keyword.key.value, pattern.cls)
        answers.append(match_pattern(run, keyword.pattern, Argument(part, subject.node)))
    return conjunction(answers)


def _positional_names(run: Run, type_: Value) -> list[str] | None:
    """The attributes that positional patterns of a class stand for; None for builtins, which stand for themselves."""
    if not (isinstance(type_, Callable_) and isinstance(type_.definition, ClassInfo)):
        return None
    return [one.name for one in data_fields(run, type_.definition) or () if one.given]


def _narrowed(run: Run, pattern: cst.MatchPattern | None, value: Value) -> Value:
    """The subject, given that it is an instance of the pattern's class."""
    if not isinstance(pattern, cst.MatchClass):
        return value
    kept = restricted(run, value, run.evaluate(pattern.cls), True)
    return value if kept is None else kept
