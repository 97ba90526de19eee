"""How code can name a device, where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from devlint.values.condition import NO_FACTS, Facts
from devlint.values.device import Relation, relate
from devlint.values.placement import Placement, leaves


@dataclass(frozen=True, slots=True)
class Wording:
    """An expression whose value is a device: `device`, `x.device`, `self.fc.weight.device`.

    `of_tensor` tells that it is the device of a tensor, and has no name of its own.
    """

    text: str
    placement: Placement
    of_tensor: bool = False

    def means(self, placement: Placement, facts: Facts = NO_FACTS) -> bool:
        """Whether it surely is the device of that placement, wherever `facts` hold."""
        pairs = [
            relate(one.device, other.device) is Relation.SAME
            for needed, one in leaves(self.placement, facts)
            for _, other in leaves(placement, facts | needed)
        ]
        return bool(pairs) and all(pairs)
