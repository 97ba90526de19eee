"""Where a tensor lives and how that is known, possibly depending on conditions; and the story of how it came there.

Placements, the steps that made them, the code in which a step happened and the words for a device are one recursive
type: a step happens in a scope, a scope remembers the placements of its arguments, and a placement ends in a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from devlint.domain.device import UNKNOWN_DEVICE, Device, Known, Relation, Symbol, relate
from devlint.domain.path_conditions import NO_FACTS, Facts, Formula, Test, assume, decide

# Steps


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


# Placements

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


@dataclass(frozen=True, slots=True)
class Wording:
    """An expression whose value is a device: `device`, `x.device`, `self.fc.weight.device`.

    `of_tensor` tells that it is the device of a tensor, and has no name of its own.
    """

    text: str
    placement: Placement
    of_tensor: bool = False

    def means(self, placement: Placement, facts: Facts = NO_FACTS) -> bool:
        """Whether it surely is the device of that placement, wherever `facts` hold."""
        pairs = [
            relate(one.device, other.device) is Relation.SAME
            for needed, one in leaves(self.placement, facts)
            for _, other in leaves(placement, facts | needed)
        ]
        return bool(pairs) and all(pairs)
