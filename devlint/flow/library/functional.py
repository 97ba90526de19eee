"""functools: functions made of functions."""

from __future__ import annotations

from devlint.flow.library.registry import Invocation, model
from devlint.flow.run import Run
from devlint.values.value import UNKNOWN, Library, Partial, Value


@model("functools.partial")
def partial(run: Run, call: Invocation) -> Value:
    """`functools.partial(f, ...)`."""
    if not call.arguments.positional:
        return UNKNOWN
    target, *rest = call.arguments.positional
    keywords = tuple((name, one.value) for name, one in call.arguments.keywords.items())
    return Partial(target.value, tuple(one.value for one in rest), keywords)


@model("functools.wraps")
def wraps(run: Run, call: Invocation) -> Value:
    """`functools.wraps(f)`: a decorator that hands back what it is given."""
    return Partial(Library("functools.update_wrapper"))


@model("functools.update_wrapper")
def update_wrapper(run: Run, call: Invocation) -> Value:
    """`functools.update_wrapper(wrapper, f)`: the wrapper, under another name."""
    return call.first.value if call.first is not None else UNKNOWN
