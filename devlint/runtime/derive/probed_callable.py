"""A callable under study: its overloads, the sample calls that run, and the variations tried on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Any

import torch

from devlint.runtime.derive.call_probe import FLOATS, Outcome, bind, cast, dense, replace, run, zero_dim
from devlint.runtime.derive.sample_calls import Call
from devlint.runtime.derive.signatures import Signature

Cells = dict[str, Any]
MANY = 14


@dataclass(frozen=True, slots=True)
class Trial:
    """A function, a call it accepts, and what that call did."""

    function: Callable[..., Any]
    call: Call
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Subject:
    """A callable; a module class has one function per instance, so every trial brings its own."""

    overloads: list[Signature]
    trials: list[Trial]

    @property
    def tensor_names(self) -> list[str]:
        """The parameters that take tensors, in order."""
        return list(dict.fromkeys(p.name for s in self.overloads for p in s.params if p.tensor and p.name != "out"))

    @property
    def takes(self) -> set[str]:
        """All parameter names."""
        return {p.name for s in self.overloads for p in s.params}

    def bound(self, call: Call) -> dict[str, Any]:
        """The call's values by parameter name."""
        return bind(self.overloads, call) or {}

    def vary(self, trial: Trial, changes: dict[str, torch.Tensor], device: str = "cpu") -> Outcome:
        """The trial again with the named operands replaced."""
        return run(trial.function, self.overloads, replace(trial.call, self.overloads, changes), device=device)

    def few(self) -> list[Trial]:
        """As many trials as are varied."""
        return self.trials[:MANY]

    def varied(self, device: str = "cpu") -> list[Outcome]:
        """Accepted outcomes over the trials, with operands cast and made 0-dim, alone and together."""
        outcomes = [t.outcome for t in self.trials]
        for trial in self.few():
            for changes in _changes(dense(self.bound(trial.call))):
                outcome = self.vary(trial, changes, device)
                if not outcome.error:
                    outcomes.append(outcome)
        return outcomes


def _changes(given: dict[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
    floating = {n: t for n, t in given.items() if t.is_floating_point()}
    others = (*FLOATS[1:], torch.int64, torch.complex64) if floating else (torch.uint8,)
    for dtype in (*others, torch.int32, torch.bool):
        yield {n: cast(t, dtype) for n, t in (floating or given).items()}
    if not floating and len(given) > 1:
        yield from ({name: cast(t, d)} for name, t in given.items() for d in (torch.int32, torch.uint8))
    for name, tensor in given.items():
        alone = zero_dim(tensor)
        if tensor.is_floating_point():
            yield from ({name: cast(tensor, d)} for d in (torch.float64, torch.int64))
            yield {name: cast(alone, torch.float64)}
        yield {name: alone}
    if given:
        yield {n: zero_dim(t) for n, t in given.items()}


def subject(overloads: list[Signature], attempts: Iterable[tuple[Callable[..., Any], Call]]) -> Subject:
    """The subject with those of the attempted calls that run on the CPU."""
    attempts = list(attempts)
    overloads = [_taught(s, [c for _, c in attempts]) for s in overloads]
    trials = []
    for function, call in attempts:
        for tried in (call, *_other_reductions(overloads, call)):
            outcome = run(function, overloads, tried, record=True)
            if not outcome.error:
                trials.append(Trial(function, tried, outcome))
    return Subject(overloads, trials)


def _taught(signature: Signature, calls: list[Call]) -> Signature:
    """The signature with every parameter marked that receives tensors in some call, whatever its annotation says."""
    bound = [b for c in calls if (b := signature.bind(c.args, c.kwargs)) is not None]
    single = {n for b in bound for n, v in b.items() if isinstance(v, torch.Tensor)}
    listed = {
        n
        for b in bound
        for n, v in b.items()
        if isinstance(v, (list, tuple)) and any(isinstance(e, torch.Tensor) for e in v)
    }
    params = tuple(
        p if p.tensor else replaced(p, tensor="list" if p.name in listed else "one" if p.name in single else "")
        for p in signature.params
    )
    return Signature(params, signature.native)


def _other_reductions(overloads: list[Signature], call: Call) -> Iterator[Call]:
    if any(s.param("reduction") is not None for s in overloads) and "reduction" not in call.kwargs:
        bound = bind(overloads, call) or {}
        if "reduction" not in bound:
            numbered = any(p.name == "reduction" and p.type == "int" for s in overloads for p in s.params)
            yield Call(call.args, {**call.kwargs, "reduction": 0 if numbered else "none"})
