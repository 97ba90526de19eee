"""Steps of a tensor's history told of a named tensor: "`x` moved to cuda by `.to()`"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.placement import Step, StepKind

PREDICATES: Final = frozenset(
    {
        StepKind.CREATED,
        StepKind.MOVED,
        StepKind.STORED,
        StepKind.STORED_INSIDE,
        StepKind.CACHED,
        StepKind.ASSUMED,
    }
)
"""The kinds of steps whose messages lack a subject: "created by `torch.rand`". Other messages are whole sentences."""


def told_of(subject: str, step: Step) -> Step:
    """Return a step whose message names the tensor that it speaks of; `subject` is a noun phrase for the tensor."""
    return replace(step, message=f"{subject} {step.message}") if step.kind in PREDICATES else step
