"""functools: functions made of functions."""

from __future__ import annotations

from devlint.domain.objects import join_all
from devlint.domain.value import UNKNOWN, Library, Partial, Value
from devlint.interpreter.state.arguments import Argument, Arguments, Invocation
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model("functools.partial")
def partial(run: Run, call: Invocation) -> Value:
    """`functools.partial(f, ...)`."""
    if not call.arguments.positional:
        return UNKNOWN
    target, *rest = call.arguments.positional
    keywords = tuple((name, one.value) for name, one in call.arguments.keywords.items())
    return Partial(target.value, tuple(one.value for one in rest), keywords)


@model("functools.reduce")
def reduce(run: Run, call: Invocation) -> Value:
    """`functools.reduce(f, xs, start)`: element by element, where they are known; else what a second step gives."""

    if len(call.arguments.positional) < 2:
        return UNKNOWN
    function, source, *start = call.arguments.positional
    found = run.iterate(source.value, source.node)
    values = [one.value for one in start] + list(found.items if found.items is not None else [found.element] * 2)
    if not values:
        return UNKNOWN
    total = values.pop(0)
    steps = [total]
    for value in values:
        given = [Argument(total, source.node), Argument(value, source.node)]
        total = run.call(function.value, Arguments(call.node, given), call.node)
        steps.append(total)
    return total if found.items is not None else join_all(steps)


@model("typing.cast", "typing_extensions.cast")
def cast(run: Run, call: Invocation) -> Value:
    """`typing.cast(T, x)`: x."""
    return call.arguments.value("val", 1) or UNKNOWN


@model("functools.wraps")
def wraps(run: Run, call: Invocation) -> Value:
    """`functools.wraps(f)`: a decorator that hands back what it is given."""
    return Partial(Library("functools.update_wrapper"))


@model("functools.update_wrapper")
def update_wrapper(run: Run, call: Invocation) -> Value:
    """`functools.update_wrapper(wrapper, f)`: the wrapper, under another name."""
    return call.first.value if call.first is not None else UNKNOWN
