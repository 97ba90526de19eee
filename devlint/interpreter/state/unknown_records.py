"""Heap records of objects of unknown class: what the program has done to them."""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Instance
from devlint.domain.value import AllocationSite, Unknown
from devlint.interpreter.state.frame import Frame

ANNOTATED_MODULE: Final = "torch.nn.Module"
"""The class in the record of an object that an annotation declares to be a module of the program."""


def unknown_object_site(owner: Unknown) -> AllocationSite:
    """Return the allocation site (the heap key) of the record that is kept for an object of unknown class."""
    return AllocationSite(("opaque", owner.origin))


def unknown_object_state(frame: Frame, owner: Unknown) -> Instance | None:
    """Return the heap record of what the program has done to an object of unknown class; None without one."""
    thing = frame.get(unknown_object_site(owner))
    return thing if isinstance(thing, Instance) else None
