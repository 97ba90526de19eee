"""What an expression can evaluate to. Tensors are values; what is mutable and aliased lives in the heap behind a
`Ref`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from devlint.domain.device import DeviceSymbol
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, Placement, PlacementCase, Step
from devlint.domain.storage import Storage


class Rank(Enum):
    """As much of a tensor's shape as placement needs: only 0-dim host tensors may mix with accelerator tensors.

    MANY is SOME with a dimension to spare: a part of it, or a reduction, still has one.
    """

    ZERO = "0-dim"
    SOME = "at least 1-dim"
    MANY = "at least 2-dim"
    ANY = "unknown rank"

    @property
    def is_dimensioned(self) -> bool:
        """Whether there surely is a dimension."""
        return self in (Rank.SOME, Rank.MANY)

    @property
    def fewer(self) -> Rank:
        """The rank with one dimension less."""
        return Rank.SOME if self is Rank.MANY else Rank.ANY

    @property
    def more(self) -> Rank:
        """The rank with one dimension more."""
        return Rank.MANY if self.is_dimensioned else Rank.SOME

    def __or__(self, other: Rank) -> Rank:
        """The rank of one or the other."""
        if self is other:
            return self
        return Rank.SOME if self.is_dimensioned and other.is_dimensioned else Rank.ANY


class AllocationSite(NamedTuple):
    """The identity of a heap object: where it was allocated, and under which chain of calls."""

    site: Hashable
    context: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known of it. `origin` names the thing when the program can name it: two reads are then the same
    thing."""

    origin: Hashable = None
    text: str = field(default="", compare=False)
    provenance: Step | None = field(default=None, compare=False)


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class NotTensor:
    """Something that is known to be no tensor; nothing else is known of it."""


NOT_TENSOR: Final = NotTensor()


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: Hashable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE: Final = Const(None)


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number that is not known; `kind` is "bool", "int", "float" or None."""

    kind: str | None = None
    origin: Hashable = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SymbolicBool:
    """A Python bool known by the condition it tests."""

    test: Literal


@dataclass(frozen=True, slots=True)
class StringPrefix:
    """A string that is not known, but for what it must start with (`f"cuda:{rank}"` starts with `cuda:`)."""

    prefix: str = ""


@dataclass(frozen=True, slots=True)
class DeviceValue:
    """A torch.device, or a tensor's `.device` (which always has an index, for an accelerator)."""

    placement: Placement = UNKNOWN_PLACEMENT
    of_tensor: bool = False


@dataclass(frozen=True, slots=True)
class DeviceType:
    """The `.type` of a device: a string such as "cuda"."""

    placement: Placement


@dataclass(frozen=True, slots=True)
class TypeName:
    """What `x.type()` says: a string such as "torch.cuda.FloatTensor"."""

    placement: Placement
    dtype: Dtype = UNKNOWN_DTYPE


@dataclass(frozen=True, slots=True)
class DtypeValue:
    """A torch.dtype, a NumPy dtype or a tensor's `.dtype`."""

    dtype: Dtype = UNKNOWN_DTYPE


class OriginKind(Enum):
    """What a tensor or array was made from, while that is all that happened to it."""

    NOTHING = "made from nothing"
    RANDOM = "random numbers"
    TENSOR = "another tensor"


@dataclass(frozen=True, slots=True)
class FactoryOrigin:
    """A value straight from its factory: nothing has read, changed or combined it since."""

    origin: OriginKind
    step: Step = field(compare=False)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A torch.Tensor.

    `cell` is the parameter it is (parameters keep their identity when a module moves, so their placement lives in the
    heap);
    `pending` is an unfinished non_blocking copy to the host; `memory` is the memory it lies in;
    `moved` is the transfer that handed it out, while nothing has been computed from it; `was_parameter` tells that it
    was given a Parameter that no module registers yet; `trained` that an optimizer has taken it.
    """

    placement: Placement = UNKNOWN_PLACEMENT
    dtype: Dtype = UNKNOWN_DTYPE
    rank: Rank = Rank.ANY
    grad: bool | None = None
    leaf: bool | None = None
    pinned: bool | None = None
    cell: AllocationSite | None = None
    pending: PendingCopy | None = None
    fresh: FactoryOrigin | None = None
    memory: Storage | None = field(default=None, compare=False)
    moved: Step | None = field(default=None, compare=False)
    was_parameter: bool = field(default=False, compare=False)
    trained: bool = False


@dataclass(frozen=True, slots=True)
class PendingCopy:
    """A device-to-host copy nobody has waited for: the transfer's step, and the epoch of synchronisation it began
    in."""

    epoch: int
    step: Step = field(compare=False)


@dataclass(frozen=True, slots=True)
class Array:
    """A NumPy array (or a pandas column): always on the host."""

    dtype: Dtype = UNKNOWN_DTYPE
    fresh: FactoryOrigin | None = None
    rank: Rank = Rank.ANY
    memory: Storage | None = field(default=None, compare=False)
    provenance: Step | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Size:
    """A tensor's or an array's shape, as far as its rank is known."""

    rank: Rank = Rank.ANY


@dataclass(frozen=True, slots=True)
class OpaqueData:
    """Data from a loader, of unknown structure: every tensor found inside has this placement and element type unknown.

    `mixed` tells that it holds numbers and settings too, as a checkpoint does; `moved` is the transfer that handed it
    out, while nothing has been taken from it; `parts` are what the program has put into it, under their keys or
    attributes' names.
    """

    placement: Placement
    pinned: bool | None = None
    mixed: bool = False
    moved: Step | None = field(default=None, compare=False)
    parts: tuple[tuple[Hashable, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of known length; `names` when it is a named tuple (also those that torch returns), `cls` when it is of a
    class of the program."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    cls: ProgramDefinition | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A heap object."""

    address: AllocationSite


@dataclass(frozen=True, slots=True)
class LibraryName:
    """A name in a library that is not analysed, by its full dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class BoundLibraryMethod:
    """A library method bound to its receiver."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    """functools.partial: a callable with arguments already given."""

    target: Value
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramDefinition:
    """A function, lambda or class of the analysed program; what it means is the flow floor's business."""

    definition: Hashable
    receiver: Value | None = None


@dataclass(frozen=True, slots=True)
class ConditionalValue:
    """One of two values of different kinds; by the test when there is one, else it is not known which."""

    test: Literal | None
    yes: Value
    no: Value


Value: TypeAlias = (
    "Unknown | NotTensor | Const | Number | SymbolicBool | StringPrefix | DeviceValue | DeviceType | TypeName"
    " | DtypeValue | Size | Tensor | Array | OpaqueData | Tuple | Ref | LibraryName | BoundLibraryMethod | Partial"
    " | ProgramDefinition | ConditionalValue"
)


def is_from_caller(origin: Hashable) -> bool:
    """Whether the thing named by `origin` is an argument, or part of one: its device is then the caller's choice."""
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        origin = origin[1]
    return isinstance(origin, tuple) and bool(origin) and origin[0] == "param"


def is_single_object(origin: Hashable) -> bool:
    """Whether everything named by `origin` is the same thing; the elements of a sequence are not."""
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        if origin[0] == "element" or (origin[0] == "item" and isinstance(origin[2], tuple)):
            return False
        origin = origin[1]
    return True


def device_symbol(origin: Hashable, text: str) -> DeviceSymbol:
    """The device of the thing named by `origin`; `x.device` is the device of `x`."""
    if isinstance(origin, tuple) and len(origin) == 3 and origin[0] == "attr" and origin[2] == "device":
        return DeviceSymbol(origin[1], text.removesuffix(".device"))
    return DeviceSymbol(origin, text)


def named_placement(origin: Hashable, text: str, trace: Step | None = None) -> PlacementCase:
    """The placement of something the program names but does not place."""
    return PlacementCase(device_symbol(origin, text), Basis.CALLER if is_from_caller(origin) else Basis.EXPLICIT, trace)


def as_tensor(value: Value) -> Tensor | None:
    """The value seen as a tensor: a tensor, or something unknown that is used as one; None for anything else."""
    match value:
        case Tensor():
            return value
        case Unknown(origin=origin, text=text, provenance=trace) if origin is not None:
            return Tensor(
                named_placement(origin, text, trace), memory=Storage(origin) if is_single_object(origin) else None
            )
        case Unknown():
            return Tensor()
        case OpaqueData(placement=placement, pinned=pinned, moved=moved, parts=parts):
            whole = all(isinstance(one, (Const, Number, StringPrefix, SymbolicBool)) for _, one in parts)
            return Tensor(placement, pinned=pinned, moved=moved) if whole else Tensor()
        case ConditionalValue(yes=yes, no=(Const(value=None) | NotTensor())):
            return as_tensor(yes)
        case ConditionalValue(yes=(Const(value=None) | NotTensor()), no=no):
            return as_tensor(no)
        case _:
            return None


def computed_tensor(tensor: Tensor) -> Tensor:
    """The tensor as the result of a computation: no longer fresh, pinned, pending, a parameter or a leaf by itself."""
    return replace(
        tensor, fresh=None, pinned=None, pending=None, cell=None, leaf=None, memory=None, moved=None, trained=False
    )
