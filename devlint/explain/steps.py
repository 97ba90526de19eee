"""Steps of a tensor's history told of a named tensor: "`x` moved to cuda by `.to()`"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devlint.domain.placement import Step, StepKind
from devlint.domain.value import Tensor
from devlint.explain.place_texts import place_text
from devlint.explain.step_names import names_of_step

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


def told_of(subject: str, step: Step, tensor: Tensor | None = None, *, newest: bool = False) -> Step:
    """Return a step whose message names the value that it speaks of, if the program has a name for it.

    `subject` is a noun phrase for the operand to whose history the step belongs, `tensor` the operand itself where it
    is known. A step may have happened to another value, from which the operand was computed: it then has the name
    that its own statement gives to that value, or none. Of the `newest` step the message tells that the operand comes
    from that value.
    """
    if step.kind not in PREDICATES:
        return step
    named = _subject(subject, step, tensor)
    if named is None:
        return replace(step, message=f"{subject} comes from a value {step.message}") if newest else step
    own = re.search(rf"(?<!\w){re.escape(named.strip('`'))}(?!\w)", subject) is not None
    other = named.startswith("`") and subject.startswith("`") and not own
    origin = f"; {subject} comes from it" if newest and other else ""
    return replace(step, message=f"{named} {step.message}{origin}")


def told_of_data(step: Step) -> Step:
    """Return a step whose message names the data that it speaks of, which has become a tensor later."""
    if step.kind not in PREDICATES:
        return step
    name = names_of_step(step).name("")
    return replace(step, message=f"{f'`{name}`' if name is not None else 'data'} {step.message}")


def _subject(subject: str, step: Step, tensor: Tensor | None) -> str | None:
    """Return a noun phrase for the value that a step speaks of; None if the program gives it no name."""
    if not subject.startswith("`"):  # "the weights of `net`": what happened to a module happened to them
        around = names_of_step(step).name("") if step.kind is StepKind.MOVED else None
        return f"`{around}`" if around is not None and f"`{around}`" not in subject else subject
    name = names_of_step(step).name(subject.strip("`"))
    if name is not None:
        return f"`{name}`"
    if subject == f"`{place_text(step.place)}`" or (tensor is not None and _has_made(step, tensor)):
        return subject
    return "data" if step.kind is StepKind.ASSUMED else None


def _has_made(step: Step, tensor: Tensor) -> bool:
    """Return whether a tensor is the result of a step, and not computed from it."""
    made = tensor.fresh.step if tensor.fresh is not None else None
    return any(one is not None and one.place == step.place for one in (made, tensor.moved))
