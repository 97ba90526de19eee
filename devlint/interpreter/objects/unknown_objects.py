"""What the program does to unknown things."""

from __future__ import annotations

from devlint.domain.objects import Instance
from devlint.domain.value import AllocationSite, Unknown
from devlint.interpreter.state.frame import Frame


def unknown_object_site(owner: Unknown) -> AllocationSite:
    """Where what the program does to something unknown is kept."""
    return AllocationSite(("opaque", owner.origin))


def unknown_object_state(frame: Frame, owner: Unknown) -> Instance | None:
    """What the program has done to something unknown."""
    thing = frame.get(unknown_object_site(owner))
    return thing if isinstance(thing, Instance) else None
