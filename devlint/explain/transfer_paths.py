"""The devices that a transfer may move a tensor from and to: one pair of devices for each path condition."""

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
    """A possible pair of source and destination of a transfer, with the path condition under which it applies."""

    before: PlacementCase
    after: PlacementCase
    when: PathCondition

    @property
    def uploads(self) -> bool:
        """Whether the transfer certainly goes from the host to an accelerator."""
        return is_host(self.before.device) and is_accelerator(self.after.device)

    @property
    def downloads(self) -> bool:
        """Whether the transfer certainly goes from an accelerator to the host."""
        return is_accelerator(self.before.device) and is_host(self.after.device)

    @property
    def leaves_host(self) -> bool:
        """Whether the transfer goes from the host either to an accelerator or to a device that a caller chooses."""
        return self.uploads or (is_host(self.before.device) and isinstance(self.after.device, DeviceSymbol))


def transfer_paths(event: Transfer) -> Iterator[TransferPath]:
    """Yield every possible pair of source and destination device of a transfer, each with its path condition.

    Pairs that contradict the path condition of the transfer itself are left out.
    """
    path_condition = event.context.path_condition
    for needed, before in placement_cases(event.before, path_condition):
        for more, after in placement_cases(event.after, path_condition | needed):
            yield TransferPath(before, after, needed | more)


def is_placed_in_function(context: EventContext, leaf: PlacementCase) -> bool:
    """Return whether a tensor was put on its device within the function of an event.

    The placement then holds for every caller of the function. `context` tells in which execution of a function the
    event happened.
    """
    return leaf.placing_step is not None and leaf.placing_step.scope is context.scope


def cases_if_unconditional(tensor: Tensor) -> tuple[PlacementCase, ...]:
    """Return a one-element tuple with the placement of a tensor.

    An empty tuple if the placement depends on conditions.
    """
    return (tensor.placement,) if isinstance(tensor.placement, PlacementCase) else ()
