"""Abstract values: the descriptions that the interpreter computes with in place of a program's values.

Tensors are plain values; mutable objects that several names may share live on the heap, behind a `Ref`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from devlint.domain.device import DeviceSymbol
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSymbol
from devlint.domain.extent import Extent
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import PERHAPS_ON_HOST, UNKNOWN_PLACEMENT, Basis, Placement, PlacementCase, Step
from devlint.domain.record import record, replace
from devlint.domain.storage import Storage


class Rank(Enum):
    """What is known of a tensor's number of dimensions: the number itself, a least number, or nothing.

    torch lets only 0-dim host tensors mix with accelerator tensors. MANY (at least 2-dim) is told apart from SOME (at
    least 1-dim), because a part of a MANY tensor, or a reduction over one dimension, still has a dimension. Programs
    ask for the number where they take labels of one shape or another.
    """

    ZERO = "0-dim"
    ONE = "1-dim"
    TWO = "2-dim"
    THREE = "3-dim"
    FOUR = "4-dim"
    FIVE = "5-dim"
    SOME = "at least 1-dim"
    MANY = "at least 2-dim"
    ANY = "unknown rank"

    @property
    def number(self) -> int | None:
        """Return the number of dimensions; None where it is not known."""
        return _NUMBERS.get(self)

    @property
    def least(self) -> int:
        """Return the number of dimensions that a tensor of this rank has at least, up to 2."""
        return _LEAST[self]

    @property
    def is_dimensioned(self) -> bool:
        """Return whether a tensor of this rank surely has at least one dimension."""
        return self is not Rank.ANY and self is not Rank.ZERO

    @property
    def lower_bound(self) -> Rank:
        """Return the rank that says no more than how many dimensions there are at least."""
        return Rank.at_least(self.least)

    @property
    def fewer(self) -> Rank:
        """Return what is known of the rank of a tensor that has one dimension less."""
        number = self.number
        if number:
            return Rank.of(number - 1)
        return Rank.SOME if self is Rank.MANY else Rank.ANY

    @property
    def more(self) -> Rank:
        """Return what is known of the rank of a tensor that has one dimension more."""
        number = self.number
        return Rank.of(number + 1) if number is not None else Rank.at_least(self.least + 1)

    @staticmethod
    def of(number: int) -> Rank:
        """Return the rank of a tensor with a number of dimensions; of many, only that they are many."""
        return _RANKS[number] if 0 <= number < len(_RANKS) else Rank.MANY

    @staticmethod
    def at_least(number: int) -> Rank:
        """Return the rank of a tensor with at least a number of dimensions."""
        return Rank.ANY if number <= 0 else Rank.SOME if number == 1 else Rank.MANY

    def __or__(self, other: Rank) -> Rank:
        """Return the join of two ranks: what is known of a tensor that has either of them."""
        return self if self is other else Rank.at_least(min(self.least, other.least))


_RANKS: Final = (Rank.ZERO, Rank.ONE, Rank.TWO, Rank.THREE, Rank.FOUR, Rank.FIVE)
"""The ranks that state the number of dimensions, in the order of the numbers."""
_NUMBERS: Final = {rank: number for number, rank in enumerate(_RANKS)}
_LEAST: Final = {
    **{rank: min(number, 2) for rank, number in _NUMBERS.items()},
    Rank.SOME: 1,
    Rank.MANY: 2,
    Rank.ANY: 0,
}


Sizes: TypeAlias = "tuple[int | None, ...]"
"""The sizes of a tensor's dimensions, in order; None for one that is not known."""


class AllocationSite(NamedTuple):
    """The identity of a heap object: the syntax node that allocates it, and the chain of calls around it.

    `context` is the number by which the analysis identifies the chain of calls.
    """

    site: Hashable
    context: int = 0


@record(frozen=True, slots=True)
class Unknown:
    """A value of which nothing is known, except its name in the program if it has one.

    `origin` identifies a value that the program names, such as an argument or an attribute of one: two reads with one
    origin give the same value. `text` is the name that findings show. `of_host_tensors` is true for what unknown code
    has returned that was given host tensors and no others. `element` stands for everything inside of what an iteration
    over the value yields, None where nothing is known of it. `cast` is the dtype to which the program has cast the
    value, None where it has not.
    """

    origin: Hashable = None
    text: str = field(default="", compare=False)
    provenance: Step | None = field(default=None, compare=False)
    of_host_tensors: bool = field(default=False, compare=False)
    element: OpaqueData | None = field(default=None, compare=False)
    cast: Dtype | None = None


UNKNOWN: Final = Unknown()
"""The unknown value without a name."""


@record(frozen=True, slots=True)
class NotTensor:
    """A value that is known to be no tensor; nothing else is known of it."""


NOT_TENSOR: Final = NotTensor()
"""The one instance of NotTensor that the analysis uses."""


@record(frozen=True, slots=True)
class Const:
    """The abstract value of a known Python constant: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: Hashable

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE: Final = Const(None)
"""The constant None."""


@record(frozen=True, slots=True)
class Number:
    """A Python number of unknown value; `kind` is "bool", "int" or "float", None where the type is unknown too."""

    kind: str | None = None
    origin: Hashable = None
    text: str = field(default="", compare=False)


@record(frozen=True, slots=True)
class SymbolicBool:
    """A Python bool that is true exactly where a condition of the program (a literal of the path condition) holds."""

    test: Literal


@record(frozen=True, slots=True)
class StringPrefix:
    """A string of which only a prefix is known (`f"cuda:{rank}"` starts with `cuda:`)."""

    prefix: str = ""


@record(frozen=True, slots=True)
class DeviceValue:
    """The abstract value of a torch.device object.

    `of_tensor` is true for a tensor's `.device`, which always has an index when it is an accelerator.
    """

    placement: Placement = UNKNOWN_PLACEMENT
    of_tensor: bool = False


@record(frozen=True, slots=True)
class DeviceType:
    """The abstract value of a device's `.type`: a string such as "cuda".

    `whole` is true for `str(device)`, which has the device's index too, if the device has one.
    """

    placement: Placement
    whole: bool = False


@record(frozen=True, slots=True)
class DeviceString:
    """The abstract value of a string that starts with a device's type, such as f"{device.type}:{index}".

    `placement` is the device that the start of the string names, and `rest` the text after it. `is_open` is true when
    unknown text follows.
    """

    placement: Placement
    rest: str
    is_open: bool = False


@record(frozen=True, slots=True)
class TypeName:
    """The abstract value of the string that `x.type()` returns for a tensor, such as "torch.cuda.FloatTensor"."""

    placement: Placement
    dtype: Dtype = UNKNOWN_DTYPE


@record(frozen=True, slots=True)
class DtypeValue:
    """The abstract value of a torch.dtype, a NumPy dtype or a tensor's `.dtype`."""

    dtype: Dtype = UNKNOWN_DTYPE


class OriginKind(Enum):
    """What the elements of a newly made tensor or array are taken from: nothing, random numbers or another tensor."""

    NOTHING = "made from nothing"
    RANDOM = "random numbers"
    GENERATOR = "numbers from a generator object"
    TENSOR = "another tensor"


@record(frozen=True, slots=True)
class FactoryOrigin:
    """The factory call, such as `torch.zeros(3)`, that made a tensor or array which nothing has read or changed since.

    Combining the tensor with another one also counts as a read. `kind` is the source of the elements, `step` the call,
    `extent` the sizes that the call asks for, None where it does not tell.
    """

    kind: OriginKind
    step: Step = field(compare=False)
    extent: Extent | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class Tensor:
    """The abstract value of a torch.Tensor: what is known of its placement, dtype, rank, gradient and memory.

    `cell` is the allocation site of the parameter that the tensor is: a parameter keeps its identity when its module
    moves, so its placement lives on the heap. `grad`, `leaf` and `pinned` are None when unknown. `pending` is an
    unfinished non_blocking copy to the host, `fresh` the factory call while nothing else has happened to the tensor,
    `memory` the memory it lies in. `moved` is the transfer that returned it, while nothing has been computed from it,
    and `host_copy` the same for a call that pinned or cast it. `moved_parameter` is true when that transfer was applied
    to a Parameter that no module registers yet; `trained` is true when an optimizer has received the tensor.
    `empty_sizes` are the sizes of a tensor that surely has no elements (one of them is 0), None for any other tensor:
    programs test such a placeholder by its sizes, as `x.size(0) > 0`.
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
    moved_parameter: bool = field(default=False, compare=False)
    trained: bool = False
    empty_sizes: Sizes | None = None
    host_copy: HostCopy | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class HostCopy:
    """A call that returned a tensor as a copy of another one on the same device: `x.pin_memory()`, or `x.float()`.

    `step` is the call, `dtype` the dtype of the other tensor, and `pins` is true for a copy in pinned memory.
    """

    step: Step
    dtype: Dtype
    pins: bool = False


@record(frozen=True, slots=True)
class PendingCopy:
    """A copy from an accelerator to the host for which the host has not waited.

    `step` is the transfer, `epoch` the number of synchronisations that the program had made before it.
    """

    epoch: int
    step: Step = field(compare=False)


@record(frozen=True, slots=True)
class Array:
    """The abstract value of a NumPy array (or a pandas column), which always lies in host memory."""

    dtype: Dtype = UNKNOWN_DTYPE
    fresh: FactoryOrigin | None = None
    rank: Rank = Rank.ANY
    memory: Storage | None = field(default=None, compare=False)
    provenance: Step | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class Size:
    """The abstract shape (`x.shape`) of a tensor or array: what is known of its number of dimensions.

    `empty_sizes` are the sizes where the tensor surely has no elements, None for any other one.
    """

    rank: Rank = Rank.ANY
    empty_sizes: Sizes | None = None


@record(frozen=True, slots=True)
class OpaqueData:
    """Data of unknown structure from a loader: all its tensors have `placement`, and dtypes without a name.

    `mixed` is true when the data also holds numbers and settings, as a checkpoint does. `moved` is the step of the
    transfer that returned the data, None once something has been taken from it. `parts` are the values that the program
    has stored in the data, by key or attribute name. `may_move_inputs` is true when the data may be an object
    that moves the inputs of its calls itself, such as a pipeline. `of_loader` is true for batches of a loader and their
    parts, which are no modules. `of_call` is true for what a module of unknown class returned: no part of it is a
    module, and any may be a number or a list. `origin` identifies data of which each part always has one dtype, as a
    loader's batches do; None for other data.
    """

    placement: Placement
    pinned: bool | None = None
    mixed: bool = False
    moved: Step | None = field(default=None, compare=False)
    parts: tuple[tuple[Hashable, Value], ...] = ()
    may_move_inputs: bool = False
    of_loader: bool = False
    of_call: bool = False
    origin: Hashable = None

    @property
    def dtype(self) -> Dtype:
        """The dtype that the data has if it is a tensor."""
        if self.origin is None:
            return UNKNOWN_DTYPE
        is_part = isinstance(self.origin, tuple) and self.origin[0] == "item"
        return named_dtype(self.origin, "a part of the batch" if is_part else "the batch")


@record(frozen=True, slots=True)
class Tuple:
    """The abstract value of a tuple of known length.

    `names` are the fields of a named tuple, as some torch functions return; `cls` is the tuple's class when the program
    defines that class.
    """

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()
    cls: ProgramDefinition | None = None


@record(frozen=True, slots=True)
class TypeUnion:
    """The abstract value of a union of classes, such as `list | tuple`, which `isinstance` takes like a tuple of them.

    None stands for its own class in a union, as it does in Python.
    """

    types: tuple[Value, ...]


@record(frozen=True, slots=True)
class Ref:
    """A reference to an object on the abstract heap (a list, a dict, a module), by its allocation site."""

    address: AllocationSite


@record(frozen=True, slots=True)
class LibraryName:
    """A function, class or other member of a library that is not analysed, known by its full dotted name."""

    name: str


@record(frozen=True, slots=True)
class ClassOf:
    """The class of a value, as `type(x)` returns it, where no name of the class is known."""

    value: Value


@record(frozen=True, slots=True)
class BoundLibraryMethod:
    """A library's method bound to its receiver: `x.to` for a tensor `x`, or `values.append` for a list `values`."""

    receiver: Value
    name: str


@record(frozen=True, slots=True)
class Partial:
    """The abstract value of a functools.partial object: a callable with some arguments already given."""

    target: Value
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()


@record(frozen=True, slots=True)
class ProgramDefinition:
    """A function, lambda or class of the analysed program, as an abstract value.

    `definition` is opaque in this module; the interpreter gives it its meaning. For a bound method, `receiver` is the
    object that the method is bound to.
    """

    definition: Hashable
    receiver: Value | None = None


@record(frozen=True, slots=True)
class ConditionalValue:
    """One of two values that have no common description: `yes` where the condition `test` holds, else `no`.

    `test` is None when it is not known which path gives which value.
    """

    test: Literal | None
    yes: Value
    no: Value


Value: TypeAlias = (
    "Unknown | NotTensor | Const | Number | SymbolicBool | StringPrefix | DeviceValue | DeviceType"
    " | DeviceString | TypeName | DtypeValue | Size | Tensor | Array | OpaqueData | Tuple | TypeUnion | Ref"
    " | LibraryName | ClassOf | BoundLibraryMethod | Partial | ProgramDefinition | ConditionalValue"
)
"""The kinds of abstract values."""


def is_from_caller(origin: Hashable) -> bool:
    """Return whether an origin (the identity of a named unknown value) is that of an argument, or of a module itself.

    So is the origin of a part of them. The unknown caller of the analysed code then chooses the value's device, as the
    user does who types the answer to `input()`.
    """
    return owner_kind(origin) in ("param", "own", "typed")


SUBMODULES: Final = "submodules"
"""The kind of the origin of what stands for each part of a module whose parts are not known one by one."""


def owner_kind(origin: Hashable) -> Hashable:
    """Return the kind of the origin of the value of which an origin names a part, or the value itself."""
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        origin = origin[1]
    return origin[0] if isinstance(origin, tuple) and origin else None


def is_single_object(origin: Hashable) -> bool:
    """Return whether an origin (the identity of a named unknown value) belongs to one object only.

    The elements of a sequence share an origin, so the origin of an element is not that of a single object.
    """
    while isinstance(origin, tuple) and origin and origin[0] in ("attr", "item", "element"):
        if origin[0] == "element" or (origin[0] == "item" and isinstance(origin[2], tuple)):
            return False
        origin = origin[1]
    return True


RESPELLING_METHODS: Final = frozenset("lower upper strip lstrip rstrip casefold".split())
"""The methods of strings that change the spelling alone, so that the result names the same device if it names one."""


def respelled(text: Unknown, method: str) -> Unknown:
    """Return what a method that changes the spelling alone returns for a text that the program names."""
    return Unknown(("attr", text.origin, f"{method}()"), f"{text.text}.{method}()", text.provenance)


def _spelled_as_given(origin: Hashable, text: str) -> tuple[Hashable, str]:
    """Return the identity and the name of a text before methods have changed its spelling."""
    match origin:
        case ("attr", inner, str(called)) if called.endswith("()"):
            return _spelled_as_given(inner, text.removesuffix(f".{called}"))
    return origin, text


def device_symbol(origin: Hashable, text: str) -> DeviceSymbol:
    """Return the symbol that stands for the unknown device of a named value; `origin` is the value's identity.

    If the value is itself a device attribute, such as `x.device`, the symbol stands for the device of `x`.
    """
    origin, text = _spelled_as_given(origin, text)
    if isinstance(origin, tuple) and len(origin) == 3 and origin[0] == "attr" and origin[2] == "device":
        return DeviceSymbol(origin[1], text.removesuffix(".device"))
    return DeviceSymbol(origin, text)


def named_placement(origin: Hashable, text: str, trace: Step | None = None) -> PlacementCase:
    """Return the placement of an object that has a name in the program but an unknown device.

    The placement consists of a symbol that stands for the object's device. That of a part of a module that cannot be
    seen into is unknown: each part may lie elsewhere.
    """
    if owner_kind(origin) == SUBMODULES:
        return UNKNOWN_PLACEMENT
    return PlacementCase(device_symbol(origin, text), Basis.CALLER if is_from_caller(origin) else Basis.EXPLICIT, trace)


def named_dtype(origin: Hashable, text: str) -> Dtype:
    """Return the dtype of an object that has a name in the program but an unknown dtype: a symbol that stands for it.

    If the object is itself a dtype attribute, such as `x.dtype`, the symbol stands for the dtype of `x`. The elements
    of a sequence may have different dtypes, so theirs is unknown.
    """
    if not is_single_object(origin):
        return UNKNOWN_DTYPE
    if isinstance(origin, tuple) and len(origin) == 3 and origin[0] == "attr" and origin[2] == "dtype":
        origin, text = origin[1], text.removesuffix(".dtype")
    return Dtype(symbol=DtypeSymbol(origin, text))


def as_tensor(value: Value) -> Tensor | None:
    """Return a value read as a tensor: a tensor itself, or an unknown value or opaque data that is used as a tensor.

    The result is None for any other value.
    """
    match value:
        case Tensor():
            return value
        case Unknown(origin=origin, text=text, provenance=trace, cast=cast) if origin is not None:
            return Tensor(
                named_placement(origin, text, trace),
                named_dtype(origin, text) if cast is None else cast,
                memory=Storage(origin) if is_single_object(origin) else None,
            )
        case Unknown(of_host_tensors=of_host):
            return Tensor(PERHAPS_ON_HOST if of_host else UNKNOWN_PLACEMENT)
        case OpaqueData(placement=placement, pinned=pinned, moved=moved, parts=parts) as data:
            whole = all(isinstance(one, (Const, Number, StringPrefix, SymbolicBool)) for _, one in parts)
            return Tensor(placement, data.dtype, pinned=pinned, moved=moved) if whole else Tensor()
        case ConditionalValue(yes=yes, no=(Const(value=None) | NotTensor())):
            return as_tensor(yes)
        case ConditionalValue(yes=(Const(value=None) | NotTensor()), no=no):
            return as_tensor(no)
        case _:
            return None


def computed_tensor(tensor: Tensor) -> Tensor:
    """Return a copy of a tensor without the properties that the result of a computation on the tensor lacks.

    The copy is not fresh from a factory, not pinned, not the target of a pending copy, not a parameter, and not known
    to be a leaf or to have no elements.
    """
    return replace(
        tensor,
        fresh=None,
        pinned=None,
        pending=None,
        cell=None,
        leaf=None,
        memory=None,
        moved=None,
        trained=False,
        empty_sizes=None,
        host_copy=None,
    )
