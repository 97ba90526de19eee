"""The heap of one path: objects by allocation site, with a journal of what was written since the path split off.

Paths split and join at every branch, and a heap holds what the whole program has made so far. With the journal, a join
costs as much as the two paths have written, not as much as the heap holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from devlint.domain.held_values import memory_roots
from devlint.domain.objects import HeapObject
from devlint.domain.storage import Storage
from devlint.domain.value import AllocationSite

Join: TypeAlias = "Callable[[HeapObject, HeapObject], HeapObject]"
"""A function that joins two states of one heap object."""


TensorHolders: TypeAlias = "Mapping[AllocationSite, frozenset[Hashable]]"
"""The heap objects that hold tensors themselves, by allocation site, with what identifies the memory of the tensors."""


@dataclass(slots=True, eq=False)
class ForkPoint:
    """A fork of a heap into two, as a node in the tree of forks.

    `parent` is the fork before it, `written` the allocation sites written between the two forks, and `depth` the number
    of forks before it. `tensor_holders` are the objects that held tensors at the fork, None while nobody has asked for
    them.
    """

    parent: ForkPoint | None
    written: set[AllocationSite]
    depth: int
    tensor_holders: TensorHolders | None = None


class BaseHeap:
    """The objects that code has made which runs once per analysis, such as a module's top level.

    They are those of all files, and most are tables without tensors. So the sites of the objects that hold tensors are
    kept apart, by what identifies the tensors' memory.
    """

    __slots__ = ("_roots", "_sites", "_unsorted", "objects")

    def __init__(self) -> None:
        self.objects: dict[AllocationSite, HeapObject] = {}
        self._roots: dict[AllocationSite, frozenset[Hashable]] = {}
        self._sites: defaultdict[Hashable, set[AllocationSite]] = defaultdict(set)
        self._unsorted: set[AllocationSite] = set()

    def put(self, address: AllocationSite, thing: HeapObject) -> None:
        """Store an object at an allocation site, in place of the object that was there."""
        self.objects[address] = thing
        self._unsorted.add(address)

    def get_or_put(self, address: AllocationSite, thing: HeapObject) -> HeapObject:
        """Return the object at an allocation site, which is `thing` where there was none."""
        if address not in self.objects:
            self.put(address, thing)
        return self.objects[address]

    def tensor_holders(self, memory: Storage | None = None) -> Collection[AllocationSite]:
        """Return the sites of the objects that hold tensors themselves; with `memory`, a tensor in that memory."""
        for address in self._unsorted:
            for root in self._roots.pop(address, ()):
                self._sites[root].discard(address)
            roots = memory_roots(self.objects[address])
            if roots:
                self._roots[address] = roots
            for root in roots:
                self._sites[root].add(address)
        self._unsorted.clear()
        return self._roots.keys() if memory is None else self._sites.get(memory.root, ())


class Heap:
    """The heap objects by allocation site, as one path sees them.

    `fork` makes an independent copy, and `merge` joins two heaps with a common fork. The objects that the top level of
    modules has made are in the base heap given to the constructor; every path sees them until it has changed them.
    """

    __slots__ = ("_base", "_objects", "_point", "_written")

    def __init__(self, base: BaseHeap | None = None) -> None:
        self._base = BaseHeap() if base is None else base
        self._objects: dict[AllocationSite, HeapObject] = {}
        self._written: set[AllocationSite] = set()
        self._point: ForkPoint | None = None

    def get(self, address: AllocationSite) -> HeapObject | None:
        """Return the object at an allocation site; None when this path's heap and the base heap have none."""
        thing = self._objects.get(address)
        return thing if thing is not None else self._base.objects.get(address)

    def objects(self) -> Iterator[tuple[AllocationSite, HeapObject]]:
        """Yield every object that this path sees, with its allocation site."""
        yield from self._objects.items()
        for address, thing in self._base.objects.items():
            if address not in self._objects:
                yield address, thing

    def tensor_holders(self, memory: Storage | None = None) -> list[tuple[AllocationSite, HeapObject]]:
        """Return the objects on this path that hold tensors themselves, with their allocation sites.

        With `memory`, only those with a tensor in that memory. The cost is that of the objects written since it was
        last asked, and of one look at each object that holds tensors.
        """
        own = self._own_tensor_holders()
        found = [
            (address, self._objects[address])
            for address, roots in own.items()
            if memory is None or memory.root in roots
        ]
        found += [
            (address, self._base.objects[address])
            for address in self._base.tensor_holders(memory)
            if address not in self._objects
        ]
        return found

    def _own_tensor_holders(self) -> TensorHolders:
        """Return the objects with tensors that the path has written, and keep them with its last fork."""
        self._begin_segment()
        last = point = self._point
        assert last is not None
        written: set[AllocationSite] = set()
        while point is not None and point.tensor_holders is None:
            written |= point.written
            point = point.parent
        known = point.tensor_holders if point is not None and point.tensor_holders is not None else {}
        if written or last.tensor_holders is None:
            holders = dict(known)
            for address in written:
                roots = memory_roots(self._objects[address])
                if roots:
                    holders[address] = roots
                else:
                    holders.pop(address, None)
            # Equal mappings are kept once: a path asks for them often.
            last.tensor_holders = known if holders == known else holders
        assert last.tensor_holders is not None
        return last.tensor_holders

    def put(self, address: AllocationSite, thing: HeapObject) -> None:
        """Store an object at an allocation site, in place of the object that was there."""
        self._objects[address] = thing
        self._written.add(address)

    def fork(self) -> Heap:
        """Return an independent copy of the heap; both heaps remember this fork, so that a later join compares less."""
        self._begin_segment()
        copy = Heap(self._base)
        copy._objects, copy._point = dict(self._objects), self._point
        return copy

    def possibly_different_sites(self, other: Heap) -> set[AllocationSite]:
        """Return the allocation sites at which this heap and another may differ.

        Those are the sites that either heap has written since the last fork that both have in common.
        """
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
        return len(self._objects)

    def is_unchanged_since(self, before: Heap, most: int | None = None) -> bool:
        """Return whether every object that existed when `before` was forked from this heap is unchanged.

        The result is also False where more than `most` objects would have to be compared.
        """
        changes = self.possibly_different_sites(before)
        if most is not None and len(changes) > most:
            return False
        pairs = ((before.get(address), self.get(address)) for address in changes)
        return all(old is None or old is new or old == new for old, new in pairs)

    def merge(self, other: Heap, join: Join) -> Heap:
        """Return the join of two heaps; an object that only one of the heaps has is in the result unchanged."""
        merged = self.fork()
        for address in self.possibly_different_sites(other):
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
        """Copy into this heap the objects that only the other heap has."""
        for address in self.possibly_different_sites(other):
            thing = other.get(address)
            if thing is not None and address not in self._objects:
                self.put(address, thing)

    def written_since(self, before: Heap) -> Iterator[tuple[AllocationSite, HeapObject]]:
        """Yield the objects that this heap has added or changed since `before` was forked from it.

        Each object comes with its allocation site.
        """
        for address in self.possibly_different_sites(before):
            thing = self.get(address)
            if thing is not None:
                yield address, thing

    def _begin_segment(self) -> None:
        """Begin a new segment of the heap's journal of written allocation sites.

        Nothing is done if nothing has been written since the last segment began.
        """
        if self._written or self._point is None:
            depth = self._point.depth + 1 if self._point is not None else 0
            self._point = ForkPoint(self._point, self._written, depth)
            self._written = set()
