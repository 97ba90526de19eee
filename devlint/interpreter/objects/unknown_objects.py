"""What the program does to unknown things."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import Address, Unknown
from devlint.interpreter.state.frame import Run


def opaque_address(owner: Unknown) -> Address:
    """Where what the program does to something unknown is kept."""
    return Address(("opaque", owner.origin))


def record_of(run: Run, owner: Unknown) -> Instance | None:
    """What the program has done to something unknown."""
    thing = run.get(opaque_address(owner))
    return thing if isinstance(thing, Instance) else None
