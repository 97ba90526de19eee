"""Models of `functools` and `typing.cast`: partial application, reduction and wrappers."""

from __future__ import annotations

from devlint.domain.objects import join_all
from devlint.domain.value import UNKNOWN, LibraryName, Partial, Value
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("functools.partial")
def partial(frame: Frame, call: LibraryCall) -> Value:
    """Model `functools.partial(f, ...)`: a partial application of the function."""
    if not call.arguments.positional:
        return UNKNOWN
    target, *rest = call.arguments.positional
    keywords = tuple((name, one.value) for name, one in call.arguments.keywords.items())
    return Partial(target.value, tuple(one.value for one in rest), keywords)


@models_call("functools.reduce")
def reduce(frame: Frame, call: LibraryCall) -> Value:
    """Model `functools.reduce(f, xs, start)`: call the function on each element in turn, if the elements are known.

    For an unknown number of elements, the result is the join of the initial value (`start` or an element) and the
    results of calling the function once, or twice if `start` is given.
    """
    if len(call.arguments.positional) < 2:
        return UNKNOWN
    function, source, *start = call.arguments.positional
    found = frame.iterate(source.value, source.node)
    values = [one.value for one in start] + list(found.items if found.items is not None else [found.element] * 2)
    if not values:
        return UNKNOWN
    total = values.pop(0)
    steps = [total]
    for value in values:
        given = [Argument(total, source.node), Argument(value, source.node)]
        total = frame.call(function.value, Arguments(call.node, given), call.node)
        steps.append(total)
    return total if found.items is not None else join_all(steps)


@models_call("typing.cast", "typing_extensions.cast")
def cast(frame: Frame, call: LibraryCall) -> Value:
    """Model `typing.cast(T, x)`: the value of `x`."""
    return call.arguments.value("val", 1) or UNKNOWN


@models_call("functools.wraps")
def wraps(frame: Frame, call: LibraryCall) -> Value:
    """Model `functools.wraps(f)`: a decorator that returns the function it is applied to."""
    return Partial(LibraryName("functools.update_wrapper"))


@models_call("functools.update_wrapper")
def update_wrapper(frame: Frame, call: LibraryCall) -> Value:
    """Model `functools.update_wrapper(wrapper, f)`: the wrapper itself."""
    return call.first.value if call.first is not None else UNKNOWN
