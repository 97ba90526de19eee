"""Where a tensor lives and how that is known, possibly depending on conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from devlint.values.condition import NO_FACTS, Facts, Formula, Test, assume, decide
from devlint.values.device import UNKNOWN_DEVICE, Device, Known, Symbol
from devlint.values.trace import Step, cause

MAX_CHOICES: Final = 4
"""Conditions that one placement may depend on: real device choices nest two deep (cuda, mps, cpu); more is noise."""


class How(Enum):
    """How a placement is known; it decides which rule speaks and how sure it is."""

    EXPLICIT = "explicit"
    DEFAULT = "default"
    CALLER = "caller"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One device, how it is known, and since when."""

    device: Device = UNKNOWN_DEVICE
    how: How = How.EXPLICIT
    trace: Step | None = field(default=None, compare=False)

    @property
    def cause(self) -> Step | None:
        """The step that put the tensor there."""
        return cause(self.trace)

    def __str__(self) -> str:
        return str(self.device)


@dataclass(frozen=True, slots=True)
class Choice:
    """One placement when the formula holds, another when it does not."""

    formula: Formula
    yes: Placement
    no: Placement

    def __str__(self) -> str:
        return f"{self.yes} if {self.formula} else {self.no}"


Placement: TypeAlias = "Leaf | Choice"
UNKNOWN_PLACEMENT: Final = Leaf()


def leaves(placement: Placement, facts: Facts = NO_FACTS) -> Iterator[tuple[Facts, Leaf]]:
    """Every leaf that `facts` leave possible, with the further tests it depends on."""
    if isinstance(placement, Leaf):
        yield NO_FACTS, placement
        return
    for test, branch in ((Test(placement.formula), placement.yes), (Test(placement.formula, False), placement.no)):
        deeper = assume(facts, test)
        if deeper is None:
            continue
        needed = NO_FACTS if decide(facts, test) else frozenset({test})
        for more, leaf in leaves(branch, deeper):
            yield needed | more, leaf


def restrict(placement: Placement, facts: Facts) -> Placement:
    """The placement as it is where `facts` hold."""
    if isinstance(placement, Leaf) or not facts:
        return placement
    known = decide(facts, Test(placement.formula))
    if known is not None:
        return restrict(placement.yes if known else placement.no, facts)
    return choose(Test(placement.formula), restrict(placement.yes, facts), restrict(placement.no, facts))


def count(placement: Placement) -> int:
    """How many choices it holds."""
    return 0 if isinstance(placement, Leaf) else 1 + count(placement.yes) + count(placement.no)


def choose(test: Test | None, yes: Placement, no: Placement) -> Placement:
    """`yes` where the test holds and `no` where it does not; with no test, what both agree on."""
    if yes == no:
        return yes
    if test is None:
        return agree(yes, no)
    if not test.holds:
        yes, no = no, yes
    yes, no = restrict(yes, frozenset({Test(test.formula)})), restrict(no, frozenset({Test(test.formula, False)}))
    if yes == no:
        return yes
    if count(yes) + count(no) >= MAX_CHOICES:
        return agree(yes, no)
    return Choice(test.formula, yes, no)


def agree(left: Placement, right: Placement) -> Placement:
    """What is true of both: the device when it is the same, with the weaker claim of how it is known."""
    if left == right:
        return left
    if isinstance(left, Leaf) and isinstance(right, Leaf) and left.device == right.device:
        return left if left.how is not How.DEFAULT else right
    if isinstance(left, Choice) and isinstance(right, Choice) and left.formula == right.formula:
        yes, no = agree(left.yes, right.yes), agree(left.no, right.no)
        return yes if yes == no else Choice(left.formula, yes, no)
    return UNKNOWN_PLACEMENT


def transform(placement: Placement, change: Callable[[Leaf], Leaf]) -> Placement:
    """The placement with every leaf changed."""
    if isinstance(placement, Leaf):
        return change(placement)
    yes, no = transform(placement.yes, change), transform(placement.no, change)
    if yes is placement.yes and no is placement.no:
        return placement
    return yes if yes == no else Choice(placement.formula, yes, no)


def retrace(placement: Placement, step: Callable[[Step | None], Step | None]) -> Placement:
    """The same placement with each leaf's story continued; itself where no story goes on."""

    def change(leaf: Leaf) -> Leaf:
        trace = step(leaf.trace)
        return leaf if trace is leaf.trace else replace(leaf, trace=trace)

    return transform(placement, change)


def is_unknown(placement: Placement) -> bool:
    """Whether nothing at all is known."""
    return isinstance(placement, Leaf) and placement.device == UNKNOWN_DEVICE


def certain_device(placement: Placement, facts: Facts = NO_FACTS) -> Known | Symbol | None:
    """The one device it has on every path that `facts` allow, None when there is no such device."""
    devices = {leaf.device for _, leaf in leaves(placement, facts)}
    if len(devices) != 1:
        return None
    device = devices.pop()
    return device if isinstance(device, (Known, Symbol)) else None
