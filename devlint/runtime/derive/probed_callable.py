"""Probing of a torch callable: make its sample calls on the CPU, and variations of the calls that run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from devlint.runtime.derive.call_probe import (
    FLOATS,
    ProbeResult,
    as_zero_dim,
    bind_call,
    cast_operand,
    dense_operands,
    probe_call,
    replace_operands,
)
from devlint.runtime.derive.sample_calls import SampleCall
from devlint.runtime.derive.signatures import Signature

Cells = dict[str, Any]
MAX_VARIED_CALLS = 14
"""The number of calls that are varied."""


@dataclass(frozen=True, slots=True)
class ProbedCall:
    """A function, a sample call that ran without an error, and what the call did."""

    function: Callable[..., Any]
    call: SampleCall
    outcome: ProbeResult


@dataclass(frozen=True, slots=True)
class ProbedCallable:
    """A torch callable with its overloads and those of its sample calls that ran without an error.

    If the callable is a module class, each call has a function of its own, which calls one instance of the class.
    """

    overloads: list[Signature]
    probed_calls: list[ProbedCall]

    @property
    def tensor_names(self) -> list[str]:
        """Return the names of the parameters that take tensors in some overload, in order, without ``out``."""
        return list(dict.fromkeys(p.name for s in self.overloads for p in s.params if p.tensor and p.name != "out"))

    @property
    def parameter_names(self) -> set[str]:
        """Return the names of the parameters of all overloads."""
        return {p.name for s in self.overloads for p in s.params}

    def bound(self, call: SampleCall) -> dict[str, Any]:
        """Return a sample call's arguments by parameter name, or an empty dict if no overload accepts the call."""
        return bind_call(self.overloads, call) or {}

    def probe_variation(self, probed: ProbedCall, changes: dict[str, torch.Tensor], device: str = "cpu") -> ProbeResult:
        """Make a probed call again with the operands in ``changes`` replaced, and return the result or the error."""
        return probe_call(
            probed.function, self.overloads, replace_operands(probed.call, self.overloads, changes), device=device
        )

    def calls_to_vary(self) -> list[ProbedCall]:
        """Return the first few probed calls: those that are also made with changed operands."""
        return self.probed_calls[:MAX_VARIED_CALLS]

    def varied_results(self, device: str = "cpu") -> list[ProbeResult]:
        """Return the outcomes of all probed calls, and of their variations with cast or 0-dim operands.

        Variations that raise an error are left out. The variations run on ``device``.
        """
        outcomes = [t.outcome for t in self.probed_calls]
        for probed in self.calls_to_vary():
            for changes in _operand_changes(dense_operands(self.bound(probed.call))):
                outcome = self.probe_variation(probed, changes, device)
                if not outcome.error:
                    outcomes.append(outcome)
        return outcomes


def _operand_changes(given: dict[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
    """Yield changes of a call's operands, each as a dict from operand names to new tensors.

    Operands are cast to other dtypes or made 0-dim: one operand alone, or all operands together.
    """
    floating = {n: t for n, t in given.items() if t.is_floating_point()}
    others = (*FLOATS[1:], torch.int64, torch.complex64) if floating else (torch.uint8,)
    for dtype in (*others, torch.int32, torch.bool):
        yield {n: cast_operand(t, dtype) for n, t in (floating or given).items()}
    if not floating and len(given) > 1:
        yield from ({name: cast_operand(t, d)} for name, t in given.items() for d in (torch.int32, torch.uint8))
    for name, tensor in given.items():
        alone = as_zero_dim(tensor)
        if tensor.is_floating_point():
            yield from ({name: cast_operand(tensor, d)} for d in (torch.float64, torch.int64))
            yield {name: cast_operand(alone, torch.float64)}
        yield {name: alone}
    if given:
        yield {n: as_zero_dim(t) for n, t in given.items()}


def probe_callable(
    overloads: list[Signature], attempts: Iterable[tuple[Callable[..., Any], SampleCall]]
) -> ProbedCallable:
    """Make sample calls of a torch callable on the CPU, and return the callable with those that raise no error.

    Each attempt is a function with its arguments.
    """
    attempts = list(attempts)
    overloads = [_with_observed_tensors(s, [c for _, c in attempts]) for s in overloads]
    probed_calls = []
    for function, call in attempts:
        for tried in (call, *_other_reductions(overloads, call)):
            outcome = probe_call(function, overloads, tried, record=True)
            if not outcome.error:
                probed_calls.append(ProbedCall(function, tried, outcome))
    return ProbedCallable(overloads, probed_calls)


def _with_observed_tensors(signature: Signature, calls: list[SampleCall]) -> Signature:
    """Return the signature with more parameters marked as taking tensors: those that receive tensors in some call."""
    bound = [b for c in calls if (b := signature.bind(c.args, c.kwargs)) is not None]
    single = {n for b in bound for n, v in b.items() if isinstance(v, torch.Tensor)}
    listed = {
        n
        for b in bound
        for n, v in b.items()
        if isinstance(v, (list, tuple)) and any(isinstance(e, torch.Tensor) for e in v)
    }
    params = tuple(
        p if p.tensor else replace(p, tensor="list" if p.name in listed else "one" if p.name in single else "")
        for p in signature.params
    )
    return Signature(params, signature.native)


def _other_reductions(overloads: list[Signature], call: SampleCall) -> Iterator[SampleCall]:
    """Yield the sample call with ``reduction="none"`` added.

    Yields nothing if the callable has no such parameter or the call gives it already.
    """
    if any(s.param("reduction") is not None for s in overloads) and "reduction" not in call.kwargs:
        bound = bind_call(overloads, call) or {}
        if "reduction" not in bound:
            numbered = any(p.name == "reduction" and p.type == "int" for s in overloads for p in s.params)
            yield SampleCall(call.args, {**call.kwargs, "reduction": 0 if numbered else "none"})
