"""Rows of devlint's semantics tables: what a library function requires of its tensors, and what it returns."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_ABOUT = frozenset({"reason", "like", "provenance"})
"""Cells that describe other cells and are no fields of a row."""


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """How an ``nn.Module`` class is constructed: constructor parameters, registered parameters and buffers, attributes.

    It is the field ``module`` of a table row, whose other fields describe a call of an instance of the class.
    """

    init: tuple[str, ...] = ()
    parameters: str = "never"
    buffers: str = "never"
    attributes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    factory_kwargs: bool = False
    defaults: Mapping[str, bool] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Row:
    """A callable: what it requires of the devices and dtypes of its tensors, and what it returns.

    Its arguments:

    ``params`` in order, "*" before keyword-only names, "*name" variadic; ``overloads`` where the forms disagree by
    position; ``tensors`` those that take tensors, ``sequences`` those of them that take several, ``numbers`` those of
    them that take a Python number as well. The pseudo-parameter "parameters" stands for a module's own tensors.

    What it requires of them:

    ``same`` must share a device. ``scalars`` says how many 0-dim host operands are accepted among them all the same:
    0, 1, "only:NAME" (that one), "many", or "alone" (any if all operands are 0-dim); an operand that is written to
    (``mutates``) is never accepted. ``host`` must be on the host. ``index`` may be on the host while the others are on
    an accelerator, not the reverse. ``free`` may be anywhere.
    ``match``: groups that must have equal dtypes; ``match_or_half``: the same, but that half precision beside float32
    passes. ``index_dtypes`` and ``target_dtypes``: the only dtypes taken.

    What it returns:

    ``device``: "group" (that of ``same``), "arg:NAME", "kwarg" (``device=``, else the default device),
    "kwarg-or:NAME" (``device=``, else that of NAME), "own" (that of the method's object), "new" (a device
    that the object chooses by itself), "data:NAME" (that of a dataset's elements, else the host), "host", "none" or
    "unknown"; ``device_if`` by an argument that is given. ``moves``: the arguments that are moved there.
    ``returns``: "tensor", "self", "none", "number", "bool", "string", "size", "python", "list" (of any length),
    "tuple:a,b", "nested:a,(b,c)", "array", "batch" (an unknown number of tensors, all there), "object:CLASS"
    ("{class}" is the class whose method it is), "arguments:a,b" (what was given for these), "device", "dtype",
    "unknown", ...; ``returns_if`` by an argument that is given ("a+b" for two, "a=VALUE" for that value only, "!a"
    where it is not given; the first entry that applies counts).
    ``dtype``, a tuple of rules where several tensors come out (a single one takes the first), and ``dtype_if`` by an
    argument that is given. ``dtype=`` always decides where it is a parameter and given. A rule is a dtype;
    "same:NAME"; "promote" (torch's promotion over all tensors and numbers given for them) or "promote-all" (0-dim
    tensors count in full), also "promote:a,b" over some; a conversion of what they promote to: "float" (integers
    become the default float), "sum" (bool and integers become int64), "pow" (bool becomes int64), "real", "real-float",
    "complex", "double"; "kwarg:DTYPE" (``dtype=``, else DTYPE or "default"), "kwarg-or:NAME"; "arg:NAME" (the dtype
    that NAME is); "literal:a,b" (that of the Python values given); or "unknown".
    ``rank`` (0-dim or not): "broadcast" (0-dim if all operands are), "same:NAME", "reduce" (0-dim without ``dim``,
    with it one dimension less; as "broadcast" with a second tensor), "reduction" (0-dim unless ``reduction="none"``),
    "zero", "some" (never 0-dim), "shape" (from the size arguments, "shape:NAME" from NAME; where none are given as
    "broadcast"), "product" (0-dim of two vectors only), "equation" (of an Einstein summation), "squeeze" (one less
    with ``dim``, else it is not known how many), "data" (from the literal) or "unknown".
    ``view``: whose storage the result shares; ``may_view``: may share. ``grad``: "none" or "detach" where the result
    never requires grad. ``sync``: "always", or "unless:NAME" is given, where an accelerator's work is waited for.

    ``special``: the interpreter has its own handler. ``assumed``: the row is from a model file, written by hand.
    """

    name: str
    params: tuple[str, ...] = ()
    overloads: tuple[tuple[str, ...], ...] = ()
    tensors: tuple[str, ...] = ()
    sequences: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    same: tuple[str, ...] = ()
    scalars: int | str = 0
    host: frozenset[str] = frozenset()
    index: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    device: str = "group"
    device_if: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    moves: tuple[str, ...] = ()
    returns: str = "tensor"
    returns_if: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    dtype: str | tuple[str, ...] = "unknown"
    dtype_if: Mapping[str, str | tuple[str, ...]] = field(default_factory=lambda: _NOTHING)
    match: tuple[tuple[str, ...], ...] = ()
    match_or_half: tuple[tuple[str, ...], ...] = ()
    index_dtypes: Mapping[str, frozenset[str]] = field(default_factory=lambda: _NOTHING)
    target_dtypes: Mapping[str, frozenset[str]] = field(default_factory=lambda: _NOTHING)
    rank: str = "unknown"
    mutates: frozenset[str] = frozenset()
    view: str = ""
    may_view: str = ""
    sync: str = ""
    random: bool = False
    grad: str = ""
    factory: bool = False
    numpy: bool = False
    fresh: bool = False
    property: bool = False
    special: str = ""
    module: ModuleRow | None = None
    assumed: bool = False

    @builtins.property
    def generator(self) -> bool:
        """Whether the callable has a parameter ``generator``, a random generator.

        The generator must be on the device where the random numbers are drawn.
        """
        return "generator" in self.params

    @builtins.property
    def non_blocking(self) -> bool:
        """Whether the callable has a parameter ``non_blocking``, by which a copy between devices does not wait."""
        return "non_blocking" in self.params


def parse_row(name: str, cells: Mapping[str, Any]) -> Row:
    """Return the semantics-table row of the function ``name``, parsed from its cells in a data file."""
    values = {field: value for field, value in cells.items() if field not in _ABOUT}
    spelled: list[str] = values.pop("tensors", [])
    tensors = tuple(n.removesuffix("[]") for n in spelled)
    apart = {*values.get("host", ()), *values.get("free", ()), *values.get("index", ())}
    made: dict[str, Any] = {
        "name": name,
        "tensors": tensors,
        "sequences": frozenset(n.removesuffix("[]") for n in spelled if n.endswith("[]")),
        "same": tuple(values.pop("same", None) or (n for n in tensors if n not in apart)),
    }
    for key, value in values.items():
        made[key] = _SHAPES[key](value) if key in _SHAPES else value
    return Row(**made)


def _names(value: Any) -> frozenset[str]:
    """Return one parameter name, or a list of parameter names, as a set."""
    return frozenset([value] if isinstance(value, str) else value)


def _lists(value: Any) -> tuple[tuple[str, ...], ...]:
    """Return a list of lists of names, as JSON has it, as a tuple of tuples."""
    return tuple(map(tuple, value))


def _kinds(value: Any) -> Mapping[str, frozenset[str]]:
    """Return a mapping from parameter names to lists of dtype names as a mapping to sets."""
    return {name: frozenset(kinds) for name, kinds in value.items()}


def _rules(value: Any) -> str | tuple[str, ...]:
    """Return a dtype rule as it is, or a list of dtype rules as a tuple."""
    return value if isinstance(value, str) else tuple(value)


def _module(value: Any) -> ModuleRow:
    """Return the part of a row that describes a module class's constructor, parsed from the cell `module`."""
    return ModuleRow(**{**value, "init": tuple(value.get("init", ()))})


_SHAPES: Mapping[str, Any] = {
    "params": tuple,
    "numbers": _names,
    "overloads": _lists,
    "match": _lists,
    "match_or_half": _lists,
    "host": _names,
    "index": _names,
    "free": _names,
    "mutates": _names,
    "moves": tuple,
    "dtype": _rules,
    "dtype_if": lambda value: {name: _rules(rule) for name, rule in value.items()},
    "index_dtypes": _kinds,
    "target_dtypes": _kinds,
    "module": _module,
}
