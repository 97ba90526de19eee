"""Values of unknown kind: heap records of what the program has done to such objects, and results of unknown code."""

from __future__ import annotations

from typing import Final

from devlint.domain.device import is_host
from devlint.domain.objects import Instance
from devlint.domain.placement import placement_cases
from devlint.domain.value import UNKNOWN, AllocationSite, OpaqueData, Tensor, Unknown
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame

OF_HOST_TENSORS: Final = Unknown(of_host_tensors=True)
"""What unknown code has returned that was given host tensors and no others."""


def unknown_object_site(owner: Unknown) -> AllocationSite:
    """Return the allocation site (the heap key) of the record that is kept for an object of unknown class."""
    return AllocationSite(("opaque", owner.origin))


def unknown_object_state(frame: Frame, owner: Unknown) -> Instance | None:
    """Return the heap record of what the program has done to an object of unknown class; None without one."""
    thing = frame.get(unknown_object_site(owner))
    return thing if isinstance(thing, Instance) else None


def result_of_unknown_code(frame: Frame, arguments: Arguments, callee: Unknown = UNKNOWN) -> Unknown:
    """Return the result of a call of code that devlint does not know, by where the tensors that it is given are.

    A `callee` that is itself made of host tensors, as a method of such a result is, counts as one of them.
    """
    given = [one.value for one in arguments if isinstance(one.value, (Tensor, OpaqueData))]
    placements = [frame.resolve(one).placement if isinstance(one, Tensor) else one.placement for one in given]
    on_host = [is_host(leaf.device) for one in placements for _, leaf in placement_cases(one)]
    return OF_HOST_TENSORS if all(on_host) and (on_host or callee.of_host_tensors) else UNKNOWN
