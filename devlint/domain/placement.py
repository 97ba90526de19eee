"""Placements of tensors: the device, how it is known, the conditions on it, and the steps that led to it.

The types of this module refer to each other: a step happens in a scope, a scope remembers the placements of its
arguments, a placement ends in a step, and a step may make an assumption. That is why they share one module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import field
from enum import Enum
from typing import Final, TypeAlias

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import UNKNOWN_DEVICE, Device, DeviceRelation, DeviceSymbol, KnownDevice, relate_devices
from devlint.domain.heat import Heat
from devlint.domain.path_conditions import NO_CONDITION, Formula, Literal, PathCondition, assume, entails
from devlint.domain.record import record, replace

# Steps


@record(frozen=True, slots=True)
class Place:
    """A source location: the syntax node at which a step of a value's history or an event happened, and its file.

    The node is opaque in this module; `devlint.syntax` resolves it to rows and columns. `unit` is the top-level
    statement that holds the node, `node` the node itself. Places are equal when their nodes are identical.
    """

    filename: str
    unit: object
    node: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.node is other.node

    def __hash__(self) -> int:
        return id(self.node)


@record(frozen=True, slots=True)
class Loop:
    """A loop of the analysed program that is being executed, as steps and events refer to it.

    `place` is the source location of the loop statement, `depth` its nesting depth (1 for an outermost loop), `outer`
    the loop around it (through calls too), and `path_condition` the path condition at its start. `scope` is the run of
    the code that holds the loop, `body` the loop's syntax node. `counted` is true for a loop over a few known elements,
    which is run once for each, `of_batches` for a loop over the batches of a loader.
    """

    place: Place
    depth: int
    outer: Loop | None = None
    path_condition: PathCondition = NO_CONDITION
    scope: Scope | None = field(default=None, compare=False)
    counted: bool = field(default=False, compare=False)
    of_batches: bool = field(default=False, compare=False)
    body: object = field(default=None, compare=False)

    def around(self) -> Iterator[Loop]:
        """Yield this loop and the loops around it, from the innermost to the outermost."""
        loop: Loop | None = self
        while loop is not None:
            yield loop
            loop = loop.outer


class StepKind(Enum):
    """The kinds of steps in a value's history, by what happened to the value: created, moved, stored and so on."""

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
"""The kinds of steps that decide on which device a tensor lives; steps of other kinds do not move a tensor."""


@record(frozen=True, slots=True)
class Assumption:
    """One thing that the analysis takes for granted; `message` is a clause, such as "`x` is a tensor".

    `place` is where the program raises the question; None where no single source location does. `origin` identifies
    the value of a caller's that the assumption is about.
    """

    kind: AssumptionKind
    message: str
    place: Place | None = field(default=None, compare=False)
    origin: Hashable = field(default=None, compare=False)


@record(frozen=True, slots=True, eq=False)
class Step:
    """One step in the history of a value, such as its creation, a move or an assignment to an attribute.

    `previous` is the step before it, `loop` the innermost loop around it, if any. For a tensor created on the default
    device, `device_expressions` are the expressions that name a device at that point of the program. For a move,
    `source` is the step that had put the tensor on its former device. `assumption` is what the step takes for
    granted, None for a step that the program surely takes. Steps compare by identity.
    """

    kind: StepKind
    message: str
    place: Place
    scope: Scope | None = None
    previous: Step | None = None
    loop: Loop | None = None
    device_expressions: tuple[DeviceExpression, ...] = ()
    source: Step | None = None
    assumption: Assumption | None = None


def history(step: Step | None) -> Iterator[Step]:
    """Yield a step and the steps before it, from the newest to the oldest."""
    while step is not None:
        yield step
        step = step.previous


def placing_step(step: Step | None) -> Step | None:
    """Return the newest step that decided on which device the tensor lives, among a step and the steps before it.

    The result is None if there is no such step.
    """
    return next((one for one in history(step) if one.kind in PLACING_KINDS), None)


def newest_step(step: Step | None, kind: StepKind) -> Step | None:
    """Return the newest step of a given kind among a step and the steps before it; None if there is none."""
    return next((one for one in history(step) if one.kind is kind), None)


def steps_elsewhere(steps: Iterable[Step], place: Place) -> tuple[Step, ...]:
    """Return the steps that do not happen at a source location, such as the one at which a finding is reported."""
    return tuple(step for step in steps if step.place != place)


@record(frozen=True, slots=True, eq=False)
class Scope:
    """One execution of a function, of a class body or of a module's top level, as findings refer to it.

    `name` is qualified within its file. `method_of_module` is true for a method of an nn.Module that runs after
    construction, `construction` for code that runs while an nn.Module is being built, before the module can be moved.
    `any_device` is true for code meant for any device: the function mentions a device, or such code calls it. `entry`
    is true for code that runs outside of functions (a module's top level, a class body) and for the unknown caller of
    an analysed function. `argument_placements` are the placements of the tensors and modules among the arguments,
    `self` included. `caller` is the scope of the calling code, `called_at` the source location of the call. `heat` is
    how often the function runs by its role, `body` its syntax node. `makes_sample` is true for the method by which a
    dataset makes one sample. Scopes compare by identity.
    """

    name: str
    filename: str
    method_of_module: bool = False
    any_device: bool = False
    construction: bool = False
    entry: bool = False
    argument_placements: tuple[Placement, ...] = ()
    caller: Scope | None = None
    heat: Heat = Heat.OPEN
    body: object = None
    called_at: Place | None = None
    makes_sample: bool = False

    def around(self) -> Iterator[Scope]:
        """Yield this run and those of the code that calls it, from the innermost to the outermost."""
        run: Scope | None = self
        while run is not None:
            yield run
            run = run.caller


# Placements


class Basis(Enum):
    """The basis on which a placement is known: written out, torch's default, the caller's choice, or an assumption.

    The basis decides which rule reports a device conflict and with what confidence. FAILED stands for no basis at all:
    the operation that would make the tensor raises.
    """

    EXPLICIT = "explicit"
    DEFAULT = "default"
    CALLER = "caller"
    ASSUMED = "assumed"
    FAILED = "failed"


@record(frozen=True, slots=True)
class PlacementCase:
    """One unconditional placement: a device, how it is known, and the last step that led to it.

    `provenance` is that step; comparisons of placements ignore it.
    """

    device: Device = UNKNOWN_DEVICE
    basis: Basis = Basis.EXPLICIT
    provenance: Step | None = field(default=None, compare=False)

    @property
    def placing_step(self) -> Step | None:
        """Return the step that put the tensor on the device of this placement; None if no such step is known."""
        return placing_step(self.provenance)

    def __str__(self) -> str:
        return str(self.device)


@record(frozen=True, slots=True)
class ConditionalPlacement:
    """A placement that depends on a condition (`formula`): `yes` where the condition holds, `no` where it does not."""

    formula: Formula
    yes: Placement
    no: Placement
    _test: Literal | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def test(self) -> Literal:
        """Return the condition as a literal that holds; it is made once, because every path asks for it."""
        if self._test is None:
            object.__setattr__(self, "_test", Literal(self.formula))
            assert self._test is not None
        return self._test

    def __str__(self) -> str:
        return f"{self.yes} if {self.formula} else {self.no}"


Placement: TypeAlias = "PlacementCase | ConditionalPlacement"
"""The placement of a tensor: one case, or a tree of cases under conditions."""
UNKNOWN_PLACEMENT: Final = PlacementCase()
"""The placement of which nothing is known."""
PERHAPS_ON_HOST: Final = PlacementCase(basis=Basis.ASSUMED)
"""The unknown placement of what unknown code has computed from host tensors: as likely as not it is on the host too."""
NO_PLACEMENT: Final = PlacementCase(basis=Basis.FAILED)
"""The placement of a tensor that is never made, because the operation that would make it raises."""


def placement_cases(
    placement: Placement, path_condition: PathCondition = NO_CONDITION
) -> Iterator[tuple[PathCondition, PlacementCase]]:
    """Yield the unconditional cases of a placement that a path condition allows.

    Each case comes with the literals, beyond the path condition, under which it applies.
    """
    if isinstance(placement, PlacementCase):
        yield NO_CONDITION, placement
        return
    for test, branch in ((placement.test, placement.yes), (~placement.test, placement.no)):
        deeper = assume(path_condition, test)
        if deeper is None:
            continue
        needed = NO_CONDITION if entails(path_condition, test) else frozenset({test})
        for more, leaf in placement_cases(branch, deeper):
            yield needed | more, leaf


def without_index(placement: Placement) -> Placement:
    """Return a placement without the indices of its devices: `cuda` for `cuda:1`."""
    return map_cases(
        placement,
        lambda leaf: (
            replace(leaf, device=KnownDevice(leaf.device.type)) if isinstance(leaf.device, KnownDevice) else leaf
        ),
    )


def map_cases(placement: Placement, change: Callable[[PlacementCase], PlacementCase]) -> Placement:
    """Return the placement with each of its unconditional cases replaced by what `change` returns for the case."""
    if isinstance(placement, PlacementCase):
        return change(placement)
    yes, no = map_cases(placement.yes, change), map_cases(placement.no, change)
    if yes is placement.yes and no is placement.no:
        return placement
    return yes if yes == no else ConditionalPlacement(placement.formula, yes, no)


def extend_provenance(placement: Placement, step: Callable[[Step | None], Step | None]) -> Placement:
    """Return the placement with a step added to the provenance (the history of steps) of each of its cases.

    `step` makes the new step from a case's last step. The placement itself is returned when no case changes.
    """

    def change(leaf: PlacementCase) -> PlacementCase:
        trace = step(leaf.provenance)
        return leaf if trace is leaf.provenance else replace(leaf, provenance=trace)

    return map_cases(placement, change)


def is_unknown_placement(placement: Placement) -> bool:
    """Return whether nothing at all is known of a placement."""
    return isinstance(placement, PlacementCase) and placement.device == UNKNOWN_DEVICE


def certain_device(
    placement: Placement, path_condition: PathCondition = NO_CONDITION
) -> KnownDevice | DeviceSymbol | None:
    """Return the one device of a placement in all cases that a path condition allows; None if there is none.

    The device is known or symbolic (the caller's choice). Several possible devices, or an unknown one, also give None.
    """
    devices = {leaf.device for _, leaf in placement_cases(placement, path_condition)}
    if len(devices) != 1:
        return None
    device = devices.pop()
    return device if isinstance(device, (KnownDevice, DeviceSymbol)) else None


@record(frozen=True, slots=True)
class DeviceExpression:
    """An expression of the program whose value is a device: `device`, `x.device`, `self.fc.weight.device`.

    `of_tensor` is true when the device is read from a tensor (`x.device`) and has no name of its own (`device`).
    """

    text: str
    placement: Placement
    of_tensor: bool = False

    def is_device_of(self, placement: Placement, path_condition: PathCondition = NO_CONDITION) -> bool:
        """Return whether the expression gives the device of a placement in every case that a path condition allows."""
        pairs = [
            relate_devices(one.device, other.device) is DeviceRelation.SAME
            for needed, one in placement_cases(self.placement, path_condition)
            for _, other in placement_cases(placement, path_condition | needed)
        ]
        return bool(pairs) and all(pairs)
