"""The state of optimizers, such as Adam's moments: tensors that lie where the parameters lay when it was made."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.objects import Instance
from devlint.domain.placement import Step, StepKind
from devlint.domain.record import replace
from devlint.domain.value import Rank, Ref, Tensor, Tuple, Unknown, Value
from devlint.interpreter.state.frame import Frame

HELD: Final = "the parameters held"
"""The attribute of a modelled optimizer that holds its parameters; no attribute of a program has such a name."""
STATELESS: Final = "no state"
"""The attribute of a modelled optimizer that keeps no state, such as SGD without momentum."""
STATE: Final = "the state made"
"""The attribute of a modelled optimizer that holds a tensor for the state of each parameter, once it has been made."""
MADE: Final = "where the state was made"
"""The attribute of a modelled optimizer whose provenance is the call that made its state."""


def make_state(frame: Frame, optimizer: Ref, message: str, node: cst.CSTNode) -> None:
    """Record that a call makes the state of an optimizer, where its parameters are now."""
    thing = frame.instance(optimizer)
    held = thing.attributes.get(HELD) if thing is not None else None
    if thing is None or not isinstance(held, Tuple) or STATELESS in thing.attributes:
        return
    tensors = tuple(
        Tensor(frame.resolve(one).placement, rank=Rank.SOME) if isinstance(one, Tensor) else one for one in held.items
    )
    made = Unknown(provenance=frame.step(StepKind.PASSED, message, node))
    frame.put(optimizer.address, thing.with_attribute(STATE, Tuple(tensors)).with_attribute(MADE, made))


def made_state(thing: Instance) -> tuple[Step, tuple[Value, ...]] | None:
    """Return the call that made the state of an optimizer, and a tensor for the state of each parameter it holds.

    None as long as there is no state, or nothing is known of it.
    """
    state, made = thing.attributes.get(STATE), thing.attributes.get(MADE)
    if not isinstance(state, Tuple) or not isinstance(made, Unknown) or made.provenance is None:
        return None
    return made.provenance, state.items


def forget_state(frame: Frame, value: Value) -> None:
    """Forget where the state of an optimizer lies, because code that reaches it may have moved it.

    Nothing happens for any other value.
    """
    thing = frame.instance(value)
    if thing is not None and isinstance(value, Ref) and STATE in thing.attributes:
        kept = {name: one for name, one in thing.attributes.items() if name not in (STATE, MADE)}
        frame.put(value.address, replace(thing, attributes=kept))
