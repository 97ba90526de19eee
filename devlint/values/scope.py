"""The code in which something happened, as far as a rule may ask: what it is for, and what it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devlint.values.placement import Placement


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """One function as it is being run (or a module's top level). Scopes compare by identity.

    `name` is qualified within its file; `method_of_module` tells that it is a method of an nn.Module that runs after
    construction; `construction` that it runs while an nn.Module is built, before anybody can move it; `any_device`
    that the
    function is meant for any device: it names a device, or such code called it;
    `given` are the placements of the tensors and modules among its arguments, `self` included.
    """

    name: str
    filename: str
    method_of_module: bool = False
    any_device: bool = False
    construction: bool = False
    entry: bool = False
    given: tuple[Placement, ...] = ()
    caller: Scope | None = None
