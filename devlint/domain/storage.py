"""The memory a tensor or an array lies in, and by which steps several values came to share it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import Step


@dataclass(frozen=True, slots=True, eq=False)
class AliasStep:
    """A step that handed on memory instead of copying it: `surely`, or where nothing had to be done.

    `when` are the conditions under which nothing has to be done, as far as they are known.
    """

    step: Step
    surely: bool
    when: PathCondition = NO_CONDITION


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """Some memory as one value holds it: `root` is the memory itself, `shares` the steps by which the value came to it,
    `parts` which part of a part of it the value sees (none: all of it), `strided` whether in another order."""

    root: Hashable = field(default_factory=object)
    shares: tuple[AliasStep, ...] = ()
    parts: tuple[Hashable, ...] = ()
    strided: bool = False

    def with_alias_step(self, share: AliasStep) -> Storage:
        """The same memory one step further; a step of a loop counts once."""
        if any(one.step.place == share.step.place for one in self.shares):
            return self
        return Storage(self.root, (*self.shares, share), self.parts, self.strided)

    def part(self, which: Hashable) -> Storage:
        """A part of it."""
        return Storage(self.root, self.shares, (*self.parts, which), self.strided)

    def rearranged(self) -> Storage:
        """All of it, seen in another order."""
        return Storage(self.root, self.shares, self.parts, True)

    @property
    def is_contiguous(self) -> bool:
        """Whether it may be seen from one end to the other."""
        return not (self.parts or self.strided)


def views_overlap(left: Storage, right: Storage) -> bool:
    """Whether one of two views of the same memory holds the other."""
    return all(one == other for one, other in zip(left.parts, right.parts, strict=False))


def alias_steps_between(left: Storage, right: Storage) -> tuple[AliasStep, ...]:
    """The steps by which two values came to share their memory; none when they do not, or are one thing or views of
    it."""
    if left.root != right.root:
        return ()
    common = 0
    for one, other in zip(left.shares, right.shares, strict=False):
        if one.step.place != other.step.place:
            break
        common += 1
    return left.shares[common:] + right.shares[common:]


def join_storages(left: Storage | None, right: Storage | None) -> Storage | None:
    """The memory it may be in after either of two paths: by the longer story when there are two."""
    if left is None or right is None or left.root != right.root:
        return None
    return left if len(left.shares) >= len(right.shares) else right
