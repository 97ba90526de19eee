"""What a transfer does, one way for each path on which it may run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devlint.domain.device import DeviceSymbol, is_accelerator, is_host
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import PlacementCase, placement_cases
from devlint.domain.value import Tensor
from devlint.interpreter.state.events import EventContext, Transfer


@dataclass(frozen=True, slots=True)
class TransferPath:
    """One way a transfer may go: from where, to where, and under which further conditions."""

    before: PlacementCase
    after: PlacementCase
    when: PathCondition

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
        return self.uploads or (is_host(self.before.device) and isinstance(self.after.device, DeviceSymbol))


def transfer_paths(event: Transfer) -> Iterator[TransferPath]:
    """Every way the transfer can go where it stands."""
    path_condition = event.context.path_condition
    for needed, before in placement_cases(event.before, path_condition):
        for more, after in placement_cases(event.after, path_condition | needed):
            yield TransferPath(before, after, needed | more)


def is_placed_in_function(context: EventContext, leaf: PlacementCase) -> bool:
    """Whether the function itself decides where a tensor lies: it does then whoever calls it, and with what."""
    return leaf.placing_step is not None and leaf.placing_step.scope is context.scope


def unconditional_case(tensor: Tensor) -> tuple[PlacementCase, ...]:
    """The leaf of a tensor that lies in one place on every path; nothing for any other."""
    return (tensor.placement,) if isinstance(tensor.placement, PlacementCase) else ()
