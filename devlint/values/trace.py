"""The story of a value: the steps that made it what it is, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from devlint.values.condition import NO_FACTS, Facts

if TYPE_CHECKING:
    from devlint.values.scope import Scope
    from devlint.values.wording import Wording


@dataclass(frozen=True, slots=True)
class Place:
    """A syntax node in a file. Opaque here: only the syntax floor can turn it into rows and columns.

    `unit` is the top-level statement that holds the node, `node` the node itself; both compare by identity.
    """

    filename: str
    unit: object
    node: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop being run: its head, how deep it stands, the loop around it (through calls too), what holds where it
    starts."""

    place: Place
    depth: int
    outer: Loop | None = None
    facts: Facts = NO_FACTS

    def around(self) -> Iterator[Loop]:
        """This loop and those around it, from the innermost."""
        loop: Loop | None = self
        while loop is not None:
            yield loop
            loop = loop.outer


class Kind(Enum):
    """What a step did."""

    CREATED = "created"
    MOVED = "moved"
    CALLER = "caller"
    ASSUMED = "assumed"
    STORED = "stored"
    STORED_INSIDE = "stored inside"
    KEPT = "kept"
    CACHED = "cached"
    PASSED = "passed"
    CONVERTED = "converted"


PLACING = frozenset({Kind.CREATED, Kind.MOVED, Kind.CALLER, Kind.ASSUMED})
"""The kinds that decide where a tensor lives; the others only say what became of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One thing that happened to a value, in `loop` if any; `previous` is what happened before. Steps compare by
    identity.

    `wordings` are the devices at hand where a tensor was made on the default one, `source` is what had put a tensor
    where a move found it.
    """

    kind: Kind
    message: str
    place: Place
    scope: Scope | None = None
    previous: Step | None = None
    loop: Loop | None = None
    wordings: tuple[Wording, ...] = ()
    source: Step | None = None


def history(step: Step | None) -> Iterator[Step]:
    """The steps from the newest to the oldest."""
    while step is not None:
        yield step
        step = step.previous


def cause(step: Step | None) -> Step | None:
    """The newest step that decided where the tensor lives."""
    return next((one for one in history(step) if one.kind in PLACING), None)


def find(step: Step | None, kind: Kind) -> Step | None:
    """The newest step of that kind."""
    return next((one for one in history(step) if one.kind is kind), None)
