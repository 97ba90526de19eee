"""The heap of one path: objects by address, with a journal of what was written since the path split off.

Paths split and meet at every branch, and a heap holds what the whole program has made so far. The journal lets two
paths meet at the cost of what they wrote, not of everything there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from devlint.domain.objects import HeapObject
from devlint.domain.value import AllocationSite

Join: TypeAlias = "Callable[[HeapObject, HeapObject], HeapObject]"


@dataclass(frozen=True, slots=True, eq=False)
class ForkPoint:
    """A moment at which a heap split in two: what had been written since the split before it."""

    parent: ForkPoint | None
    written: set[AllocationSite]
    depth: int


class Heap:
    """Objects by address. `fork` makes an independent copy; `merge` joins two heaps that one fork handed out.

    `base` is what every path finds there until it has changed it: what the modules made.
    """

    __slots__ = ("_base", "_point", "_things", "_written")

    def __init__(self, base: Mapping[AllocationSite, HeapObject] | None = None) -> None:
        self._base: Mapping[AllocationSite, HeapObject] = {} if base is None else base
        self._things: dict[AllocationSite, HeapObject] = {}
        self._written: set[AllocationSite] = set()
        self._point: ForkPoint | None = None

    def get(self, address: AllocationSite) -> HeapObject | None:
        """The object there, None when this path knows of none."""
        thing = self._things.get(address)
        return thing if thing is not None else self._base.get(address)

    def put(self, address: AllocationSite, thing: HeapObject) -> None:
        """Place an object, or what it has become."""
        self._things[address] = thing
        self._written.add(address)

    def fork(self) -> Heap:
        """An independent copy; both remember that they were one here."""
        self._mark()
        copy = Heap(self._base)
        copy._things, copy._point = dict(self._things), self._point
        return copy

    def changes(self, other: Heap) -> set[AllocationSite]:
        """The addresses that may differ between two heaps: what either wrote since they were one."""
        found = self._written | other._written
        left, right = self._point, other._point
        while left is not right:
            if left is not None and (right is None or left.depth >= right.depth):
                found |= left.written
                left = left.parent
            elif right is not None:
                found |= right.written
                right = right.parent
        return found

    def __len__(self) -> int:
        return len(self._things)

    def agrees(self, before: Heap, most: int | None = None) -> bool:
        """Whether all that was there at the moment `before` was forked from this heap is as it was; false, too, where
        more than `most` objects had to be compared."""
        changes = self.changes(before)
        if most is not None and len(changes) > most:
            return False
        pairs = ((before.get(address), self.get(address)) for address in changes)
        return all(old is None or old is new or old == new for old, new in pairs)

    def merge(self, other: Heap, join: Join) -> Heap:
        """The heap after either of two paths; an object that only one of them made is there as that one left it."""
        merged = self.fork()
        for address in self.changes(other):
            thing = other.get(address)
            if thing is None:
                continue
            own = merged.get(address)
            if own is None:
                merged.put(address, thing)
            elif own is not thing:
                merged.put(address, join(own, thing))
        return merged

    def adopt(self, other: Heap) -> None:
        """Take over what only the other heap has."""
        for address in self.changes(other):
            thing = other.get(address)
            if thing is not None and address not in self._things:
                self.put(address, thing)

    def written_since(self, before: Heap) -> Iterator[tuple[AllocationSite, HeapObject]]:
        """What has been placed or changed since the moment at which `before` was forked from this heap."""
        for address in self.changes(before):
            thing = self.get(address)
            if thing is not None:
                yield address, thing

    def _mark(self) -> None:
        if self._written or self._point is None:
            depth = self._point.depth + 1 if self._point is not None else 0
            self._point = ForkPoint(self._point, self._written, depth)
            self._written = set()
