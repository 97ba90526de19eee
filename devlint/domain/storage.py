"""The memory of tensors and arrays, and the steps by which several values came to share it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import Loop, PlacementCase, Step
from devlint.domain.record import record


@record(frozen=True, slots=True, eq=False)
class AliasStep:
    """A step that returned its operand's memory instead of a copy, such as a view or a `.to()` without effect.

    `is_certain` is true for an operation that always shares the memory. It is false for one that shares it only where
    it has nothing to do, such as `x.to(device)` of a tensor that is on `device`. `when` are the conditions, as far as
    known, under which such an operation has nothing to do.
    """

    step: Step
    is_certain: bool
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True, eq=False)
class Storage:
    """The memory that one tensor or array lies in, and the view that this tensor or array has of it.

    `root` identifies the memory, `alias_steps` are the alias steps by which the value came to hold it, `parts` is the
    chain of indexing operations that leads to the view (empty: all of the memory), and `strided` is true when the view
    has its elements in another order.
    """

    root: Hashable = field(default_factory=object)
    alias_steps: tuple[AliasStep, ...] = ()
    parts: tuple[Hashable, ...] = ()
    strided: bool = False

    def with_alias_step(self, share: AliasStep) -> Storage:
        """Return this storage with one more alias step.

        If an alias step at the same source location is recorded already, as after an earlier iteration of a loop, the
        storage is returned unchanged.
        """
        if any(one.step.place == share.step.place for one in self.alias_steps):
            return self
        return Storage(self.root, (*self.alias_steps, share), self.parts, self.strided)

    def part(self, which: Hashable) -> Storage:
        """Return the storage of a part of this view, such as `x[0]` of `x`; `which` identifies the part."""
        return Storage(self.root, self.alias_steps, (*self.parts, which), self.strided)

    def rearranged(self) -> Storage:
        """Return the storage of a view of the same elements in another order (`x.T`)."""
        return Storage(self.root, self.alias_steps, self.parts, True)

    @property
    def is_contiguous(self) -> bool:
        """Return whether this view covers all of its memory, in the memory's original order."""
        return not (self.parts or self.strided)


@record(frozen=True, slots=True, eq=False)
class PinnedMemory:
    """The identity (`Storage.root`) of one block of pinned memory of the host.

    `loop` is the innermost loop, of an unknown number of iterations, in which it was made: outside of it, one abstract
    block stands for several. None for a block that was made outside of such loops.
    """

    loop: Loop | None = None


@record(frozen=True, slots=True)
class CopyInFlight:
    """A non_blocking copy out of pinned memory to an accelerator, for which the host has not waited.

    `root` identifies the memory, `source` is the view of it that is copied, and `step` the transfer, which goes to
    `target`. `when` are the conditions under which the copy is made. `at_yield` is true once the generator that makes
    the copy has handed a value to the code that iterates over it, which may wait for the copy.
    """

    root: Hashable
    source: Storage = field(compare=False)
    step: Step = field(compare=False)
    target: PlacementCase = field(compare=False)
    when: PathCondition = field(default=NO_CONDITION, compare=False)
    at_yield: bool = False


def views_overlap(left: Storage, right: Storage) -> bool:
    """Return whether one of two views of the same memory contains the other."""
    return all(one == other for one, other in zip(left.parts, right.parts, strict=False))


def alias_steps_between(left: Storage, right: Storage) -> tuple[AliasStep, ...]:
    """Return the alias steps by which two values came to share their memory.

    The result is empty when the values share no memory, and when they are the same value or plain views of it.
    """
    if left.root != right.root:
        return ()
    common = 0
    for one, other in zip(left.alias_steps, right.alias_steps, strict=False):
        if one.step.place != other.step.place:
            break
        common += 1
    return left.alias_steps[common:] + right.alias_steps[common:]


def join_storages(left: Storage | None, right: Storage | None) -> Storage | None:
    """Return the storage of a value after either of two paths; None unless the value has the same memory on both paths.

    Of the two paths' chains of alias steps, the longer one is kept.
    """
    if left is None or right is None or left.root != right.root:
        return None
    return left if len(left.alias_steps) >= len(right.alias_steps) else right
