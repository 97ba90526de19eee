"""What the program does to unknown things."""

from __future__ import annotations

from devlint.flow.path.run import Run
from devlint.values.heap import Instance
from devlint.values.value import Address, Unknown


def opaque_address(owner: Unknown) -> Address:
    """Where what the program does to something unknown is kept."""
    return Address(("opaque", owner.origin))


def record_of(run: Run, owner: Unknown) -> Instance | None:
    """What the program has done to something unknown."""
    thing = run.get(opaque_address(owner))
    return thing if isinstance(thing, Instance) else None
