"""What a transfer does, one way for each path on which it may run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devlint.domain.device import Symbol, is_accelerator, is_host
from devlint.domain.path_conditions import Facts
from devlint.domain.placement import Leaf, leaves
from devlint.domain.value import Tensor
from devlint.interpreter.state.events import Context, Transfer


@dataclass(frozen=True, slots=True)
class Way:
    """One way a transfer may go: from where, to where, and under which further conditions."""

    before: Leaf
    after: Leaf
    when: Facts

    @property
    def uploads(self) -> bool:
        """Whether it surely goes from the host to an accelerator."""
        return is_host(self.before.device) and is_accelerator(self.after.device)

    @property
    def downloads(self) -> bool:
        """Whether it surely goes from an accelerator to the host."""
        return is_accelerator(self.before.device) and is_host(self.after.device)

    @property
    def leaves_host(self) -> bool:
        """Whether it goes from the host to an accelerator, or to a device that somebody else chooses."""
        return self.uploads or (is_host(self.before.device) and isinstance(self.after.device, Symbol))


def ways(event: Transfer) -> Iterator[Way]:
    """Every way the transfer can go where it stands."""
    facts = event.context.facts
    for needed, before in leaves(event.before, facts):
        for more, after in leaves(event.after, facts | needed):
            yield Way(before, after, needed | more)


def is_made_here(context: Context, leaf: Leaf) -> bool:
    """Whether the function itself decides where a tensor lies: it does then whoever calls it, and with what."""
    return leaf.cause is not None and leaf.cause.scope is context.scope


def placed(tensor: Tensor) -> tuple[Leaf, ...]:
    """The leaf of a tensor that lies in one place on every path; nothing for any other."""
    return (tensor.placement,) if isinstance(tensor.placement, Leaf) else ()
