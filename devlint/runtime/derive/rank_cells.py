"""The cell ``rank`` of a semantics-table row: the rule that predicts whether results of a torch callable are 0-dim.

The first rule of a fixed list that agrees with all probed calls is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from devlint.runtime.derive.call_probe import ProbeResult, parameter_of
from devlint.runtime.derive.probed_callable import Cells, ProbedCallable

Predict = Callable[[ProbeResult], "bool | None"]
"""A rank rule: returns whether the result of a call is 0-dim, or None where the rule does not tell."""


def cells(subject: ProbedCallable, outcomes: list[ProbeResult]) -> Cells:
    """Return a callable's semantics-table cell ``rank``: the rule that predicts whether its results are 0-dim.

    The rule is "unknown" if no rule agrees with all probed calls.
    """
    facts: list[tuple[ProbeResult, bool]] = []
    for outcome in outcomes:
        zero = {t.dim() == 0 for t in outcome.tensors}
        if len(zero) > 1:
            return {"rank": "unknown"}
        facts += [(outcome, zero.pop())] if zero else []
    if not facts:
        return {"rank": "unknown"}
    for rule, predict in _candidates(subject):
        verdicts = [(zero, predict(outcome)) for outcome, zero in facts]
        decided = [(zero, expected) for zero, expected in verdicts if expected is not None]
        if decided and all(zero == expected for zero, expected in decided):
            return {"rank": rule}
    return {"rank": "unknown"}


def _candidates(subject: ProbedCallable) -> Iterator[tuple[str, Predict]]:
    """Yield the rank rules to try for a callable, in order: the name of each and the function that predicts by it."""
    if "reduction" in subject.parameter_names:
        yield "reduction", _reduced_by_name
        return
    yield "some", lambda outcome: False
    yield "zero", lambda outcome: True
    names = [n for n in subject.tensor_names if n != "parameters"]
    listed = any(p.tensor == "list" for s in subject.overloads for p in s.params[:1])
    if not listed:
        yield from ((f"same:{n}", _same(n)) for n in names[:1])
    if len(names) > 1 or listed:
        yield "broadcast", _broadcast
    for name in names:
        yield f"same:{name}", _same(name)
    for name in ("size", "shape"):
        if name in subject.parameter_names:
            yield "shape", _shaped_by(name)
    for name in ("dim", "axis"):
        if name in subject.parameter_names:
            yield "reduce", _reduced_without(name)


def _broadcast(outcome: ProbeResult) -> bool | None:
    """Return whether broadcasting the operands of a call gives a 0-dim result, which is so if all operands are 0-dim.

    Returns None if the call has no operands.
    """
    ranks = [rank for name, (_, rank) in outcome.before.items() if parameter_of(name) != "parameters"]
    return all(rank == 0 for rank in ranks) if ranks else None


def _same(name: str) -> Predict:
    """Return the rank rule "same": a function that predicts a 0-dim result if the operand ``name`` is 0-dim."""

    def predict(outcome: ProbeResult) -> bool | None:
        return next((rank == 0 for n, (_, rank) in outcome.before.items() if parameter_of(n) == name), None)

    return predict


def _shaped_by(name: str) -> Predict:
    """Return the rank rule "shape": a function that predicts a 0-dim result if argument ``name`` is an empty size."""

    def predict(outcome: ProbeResult) -> bool | None:
        size = outcome.bound.get(name)
        return len(size) == 0 if isinstance(size, (tuple, list)) else None

    return predict


def _reduced_by_name(outcome: ProbeResult) -> bool | None:
    """Return True if a loss call reduces its result to a 0-dim tensor, None if it is made without reduction."""
    legacy = outcome.bound.get("reduce") is False
    return None if legacy or outcome.bound.get("reduction") in ("none", 0) else True


def _reduced_without(name: str) -> Predict:
    """Return the rank rule "reduce", for reductions: a function that predicts a 0-dim result if no dimension is named.

    ``name`` is the parameter for the dimension. The rule predicts nothing if a dimension or ``keepdim`` is given. With
    a second tensor, as in ``torch.max(a, b)``, the result is 0-dim if all operands are.
    """

    def predict(outcome: ProbeResult) -> bool | None:
        if len(outcome.before) > 1:
            return _broadcast(outcome)
        if outcome.bound.get(name) not in (None, [], ()) or outcome.bound.get("keepdim"):
            return None
        return True

    return predict
