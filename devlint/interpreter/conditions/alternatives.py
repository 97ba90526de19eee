"""Computations on conditional values: each alternative on the path on which the value is that alternative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devlint.domain.join import alternatives, join
from devlint.domain.path_conditions import Literal, choice_literal, entails, is_choice
from devlint.domain.value import (
    UNKNOWN,
    BoundLibraryMethod,
    ConditionalValue,
    LibraryName,
    Partial,
    ProgramDefinition,
    Ref,
    Value,
)
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.events import DeviceConflict, Event
from devlint.interpreter.state.frame import Frame


def compute_per_alternative(frame: Frame, value: ConditionalValue, compute: Callable[[Value], Value]) -> Value:
    """Compute a function on both alternatives of a conditional value, each on its own path, and join the results.

    An alternative that the path condition excludes is left out. Of two objects, an event on the path of one alone
    supposes that the value is that object. So it does of two functions of which nobody knows what chooses one: an entry
    of a table that is read under an unknown key, which is mostly the type or the name of what is passed. Where a known
    condition chooses, it is the code of one function that is wrong wherever it is run.
    """
    if not _is_one_of_several(value):
        return _on_both_paths(frame, value, compute)
    test = value.test if value.test is not None else choice_literal(value)
    is_open = entails(frame.state.path_condition, test) is None
    events: dict[Literal, list[Event]] = {}

    def heard(one: Value) -> Value:
        holds = test if test in frame.state.path_condition else ~test
        with frame.analysis.events_kept() as events[holds]:
            return compute(one)

    result = _on_both_paths(frame, replace(value, test=test), heard)
    kinds = [{(type(one), one.context.place) for one in some} for some in events.values()]
    shared = kinds[0] & kinds[1] if len(kinds) == 2 else set()
    for holds, some in events.items():
        for event in some:
            supposes = is_open and (type(event), event.context.place) not in shared
            frame.analysis.listener(_supposing(event, holds) if supposes else event)
    return result


def _is_one_of_several(value: ConditionalValue) -> bool:
    """Return whether a value is one of several objects, or one of several functions by what is not known."""
    found = list(alternatives(value))
    functions = (ProgramDefinition, LibraryName, BoundLibraryMethod, Partial)
    return all(isinstance(one, Ref) for one in found) or (
        value.test is None and all(isinstance(one, (Ref, *functions)) for one in found)
    )


def _on_both_paths(frame: Frame, value: ConditionalValue, compute: Callable[[Value], Value]) -> Value:
    """Compute a function on both alternatives of a conditional value, each on its own path, and join the results."""
    results: list[Value] = []
    before = frame.analysis.failed_calls
    failed = before.fork()

    def side(one: Value, holds: Literal | None) -> None:
        if holds is not None:
            frame.state.assume(holds)
        frame.analysis.failed_calls = before.fork()
        results.append(compute(one) if frame.state.live else UNKNOWN)
        failed.include(frame.analysis.failed_calls)

    test = value.test
    ends = frame.branch(lambda: side(value.yes, test), lambda: side(value.no, ~test if test is not None else None))
    frame.state = join_states(*ends)
    frame.analysis.failed_calls = failed
    if len(results) < 2:
        # The path that leads here has ended already.
        return UNKNOWN
    reached = [result for result, end in zip(results, ends, strict=True) if end.live]
    return reached[0] if len(reached) == 1 else join(results[0], results[1], test)


def _supposing(event: Event, test: Literal) -> Event:
    """Return an event that happens on the path of one alternative, with the condition that the value is that one."""
    context = event.context
    context = replace(context, path_condition=context.path_condition - {test})
    if isinstance(event, DeviceConflict) and not is_choice(test):
        return replace(event, context=context, when=event.when | {test})
    return replace(event, context=replace(context, supposed=context.supposed | {test}))
