"""Computations on conditional values: each alternative on the path on which the value is that alternative."""

from __future__ import annotations

from collections.abc import Callable

from devlint.domain.join import join
from devlint.domain.path_conditions import Literal
from devlint.domain.value import UNKNOWN, ConditionalValue, Value
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.frame import Frame


def compute_per_alternative(frame: Frame, value: ConditionalValue, compute: Callable[[Value], Value]) -> Value:
    """Compute a function on both alternatives of a conditional value, each on its own path, and join the results.

    An alternative that the path condition excludes is left out.
    """
    results: list[Value] = []

    def side(one: Value, holds: Literal | None) -> None:
        if holds is not None:
            frame.state.assume(holds)
        results.append(compute(one) if frame.state.live else UNKNOWN)

    test = value.test
    ends = frame.branch(lambda: side(value.yes, test), lambda: side(value.no, ~test if test is not None else None))
    frame.state = join_states(*ends)
    if len(results) < 2:
        # The path that leads here has ended already.
        return UNKNOWN
    reached = [result for result, end in zip(results, ends, strict=True) if end.live]
    return reached[0] if len(reached) == 1 else join(results[0], results[1], test)
