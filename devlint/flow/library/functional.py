"""functools: functions made of functions."""

from __future__ import annotations

from devlint.flow.library.registry import Invocation, model
from devlint.flow.run import Run
from devlint.values.value import UNKNOWN, Partial, Value


@model("functools.partial")
def partial(run: Run, call: Invocation) -> Value:
    """`functools.partial(f, ...)`."""
    if not call.arguments.positional:
        return UNKNOWN
    target, *rest = call.arguments.positional
    keywords = tuple((name, one.value) for name, one in call.arguments.keywords.items())
    return Partial(target.value, tuple(one.value for one in rest), keywords)


@model("functools.wraps", "functools.update_wrapper")
def wraps(run: Run, call: Invocation) -> Value:
    """Decorators that only copy a name."""
    return UNKNOWN
