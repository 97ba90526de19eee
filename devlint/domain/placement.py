"""Where a tensor lives and how that is known, possibly depending on conditions; and the story of how it came there.

Placements, the steps that made them, the code in which a step happened and the words for a device are one recursive
type: a step happens in a scope, a scope remembers the placements of its arguments, and a placement ends in a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, TypeAlias

from devlint.domain.device import UNKNOWN_DEVICE, Device, DeviceRelation, DeviceSymbol, KnownDevice, relate_devices
from devlint.domain.path_conditions import NO_CONDITION, Formula, Literal, PathCondition, assume, entails

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
    path_condition: PathCondition = NO_CONDITION

    def around(self) -> Iterator[Loop]:
        """This loop and those around it, from the innermost."""
        loop: Loop | None = self
        while loop is not None:
            yield loop
            loop = loop.outer


class StepKind(Enum):
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


PLACING_KINDS = frozenset({StepKind.CREATED, StepKind.MOVED, StepKind.CALLER, StepKind.ASSUMED})
"""The kinds that decide where a tensor lives; the others only say what became of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One thing that happened to a value, in `loop` if any; `previous` is what happened before. Steps compare by
    identity.

    `wordings` are the devices at hand where a tensor was made on the default one, `source` is what had put a tensor
    where a move found it.
    """

    kind: StepKind
    message: str
    place: Place
    scope: Scope | None = None
    previous: Step | None = None
    loop: Loop | None = None
    wordings: tuple[DeviceExpression, ...] = ()
    source: Step | None = None


def history(step: Step | None) -> Iterator[Step]:
    """The steps from the newest to the oldest."""
    while step is not None:
        yield step
        step = step.previous


def placing_step(step: Step | None) -> Step | None:
    """The newest step that decided where the tensor lives."""
    return next((one for one in history(step) if one.kind in PLACING_KINDS), None)


def newest_step(step: Step | None, kind: StepKind) -> Step | None:
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


class Basis(Enum):
    """How a placement is known; it decides which rule speaks and how sure it is."""

    EXPLICIT = "explicit"
    DEFAULT = "default"
    CALLER = "caller"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class PlacementCase:
    """One device, how it is known, and since when."""

    device: Device = UNKNOWN_DEVICE
    basis: Basis = Basis.EXPLICIT
    provenance: Step | None = field(default=None, compare=False)

    @property
    def placing_step(self) -> Step | None:
        """The step that put the tensor there."""
        return placing_step(self.provenance)

    def __str__(self) -> str:
        return str(self.device)


@dataclass(frozen=True, slots=True)
class ConditionalPlacement:
    """One placement when the formula holds, another when it does not."""

    formula: Formula
    yes: Placement
    no: Placement

    def __str__(self) -> str:
        return f"{self.yes} if {self.formula} else {self.no}"


Placement: TypeAlias = "PlacementCase | ConditionalPlacement"
UNKNOWN_PLACEMENT: Final = PlacementCase()


def placement_cases(
    placement: Placement, path_condition: PathCondition = NO_CONDITION
) -> Iterator[tuple[PathCondition, PlacementCase]]:
    """Every leaf that `path_condition` leave possible, with the further tests it depends on."""
    if isinstance(placement, PlacementCase):
        yield NO_CONDITION, placement
        return
    for test, branch in (
        (Literal(placement.formula), placement.yes),
        (Literal(placement.formula, False), placement.no),
    ):
        deeper = assume(path_condition, test)
        if deeper is None:
            continue
        needed = NO_CONDITION if entails(path_condition, test) else frozenset({test})
        for more, leaf in placement_cases(branch, deeper):
            yield needed | more, leaf


def restrict(placement: Placement, path_condition: PathCondition) -> Placement:
    """The placement as it is where `path_condition` hold."""
    if isinstance(placement, PlacementCase) or not path_condition:
        return placement
    known = entails(path_condition, Literal(placement.formula))
    if known is not None:
        return restrict(placement.yes if known else placement.no, path_condition)
    return join_under(
        Literal(placement.formula), restrict(placement.yes, path_condition), restrict(placement.no, path_condition)
    )


def count_conditions(placement: Placement) -> int:
    """How many choices it holds."""
    return (
        0
        if isinstance(placement, PlacementCase)
        else 1 + count_conditions(placement.yes) + count_conditions(placement.no)
    )


def join_under(test: Literal | None, yes: Placement, no: Placement) -> Placement:
    """`yes` where the test holds and `no` where it does not; with no test, what both agree on."""
    if yes == no:
        return yes
    if test is None:
        return join_placements(yes, no)
    if not test.holds:
        yes, no = no, yes
    yes, no = restrict(yes, frozenset({Literal(test.formula)})), restrict(no, frozenset({Literal(test.formula, False)}))
    if yes == no:
        return yes
    if count_conditions(yes) + count_conditions(no) >= MAX_CHOICES:
        return join_placements(yes, no)
    return ConditionalPlacement(test.formula, yes, no)


def join_placements(left: Placement, right: Placement) -> Placement:
    """What is true of both: the device when it is the same, with the weaker claim of how it is known."""
    if left == right:
        return left
    if isinstance(left, PlacementCase) and isinstance(right, PlacementCase) and left.device == right.device:
        return left if left.basis is not Basis.DEFAULT else right
    if (
        isinstance(left, ConditionalPlacement)
        and isinstance(right, ConditionalPlacement)
        and left.formula == right.formula
    ):
        yes, no = join_placements(left.yes, right.yes), join_placements(left.no, right.no)
        return yes if yes == no else ConditionalPlacement(left.formula, yes, no)
    return UNKNOWN_PLACEMENT


def map_cases(placement: Placement, change: Callable[[PlacementCase], PlacementCase]) -> Placement:
    """The placement with every leaf changed."""
    if isinstance(placement, PlacementCase):
        return change(placement)
    yes, no = map_cases(placement.yes, change), map_cases(placement.no, change)
    if yes is placement.yes and no is placement.no:
        return placement
    return yes if yes == no else ConditionalPlacement(placement.formula, yes, no)


def extend_provenance(placement: Placement, step: Callable[[Step | None], Step | None]) -> Placement:
    """The same placement with each leaf's story continued; itself where no story goes on."""

    def change(leaf: PlacementCase) -> PlacementCase:
        trace = step(leaf.provenance)
        return leaf if trace is leaf.provenance else replace(leaf, provenance=trace)

    return map_cases(placement, change)


def is_unknown_placement(placement: Placement) -> bool:
    """Whether nothing at all is known."""
    return isinstance(placement, PlacementCase) and placement.device == UNKNOWN_DEVICE


def certain_device(
    placement: Placement, path_condition: PathCondition = NO_CONDITION
) -> KnownDevice | DeviceSymbol | None:
    """The one device it has on every path that `path_condition` allow, None when there is no such device."""
    devices = {leaf.device for _, leaf in placement_cases(placement, path_condition)}
    if len(devices) != 1:
        return None
    device = devices.pop()
    return device if isinstance(device, (KnownDevice, DeviceSymbol)) else None


@dataclass(frozen=True, slots=True)
class DeviceExpression:
    """An expression whose value is a device: `device`, `x.device`, `self.fc.weight.device`.

    `of_tensor` tells that it is the device of a tensor, and has no name of its own.
    """

    text: str
    placement: Placement
    of_tensor: bool = False

    def is_device_of(self, placement: Placement, path_condition: PathCondition = NO_CONDITION) -> bool:
        """Whether it surely is the device of that placement, wherever `path_condition` hold."""
        pairs = [
            relate_devices(one.device, other.device) is DeviceRelation.SAME
            for needed, one in placement_cases(self.placement, path_condition)
            for _, other in placement_cases(placement, path_condition | needed)
        ]
        return bool(pairs) and all(pairs)
