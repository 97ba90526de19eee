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

    It is the field ``module`` of a semantics-table row, whose other fields describe a call of an instance of the class.
    """

    init: tuple[str, ...] = ()
    parameters: str = "never"
    buffers: str = "never"
    attributes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    factory_kwargs: bool = False
    defaults: Mapping[str, bool] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a semantics table: which devices and dtypes a library callable requires, and what it returns.

    Most fields name parameters of the callable; NAME stands for one. The name "parameters" stands for the parameters
    and buffers of a module. A field that ends in ``_if`` maps a condition on the given arguments to the value that
    holds then: "a" (`a` is given), "a+b" (both are given), "a=VALUE" (`a` has that value), "!a" (`a` is not given). The
    first condition that holds counts.

    The parameters. ``params``: all names in order, with "*" before keyword-only names and "*name" for a variadic one.
    ``overloads``: one such list for each overload, where overloads disagree by position. ``tensors``: the parameters
    that take tensors; ``sequences``: those of them that take several; ``numbers``: those of them that take a Python
    number as well.

    The required devices. ``same``: the parameters whose tensors must share a device. ``scalars``: how many 0-dim host
    tensors are accepted among them all the same: 0, 1, "only:NAME" (that one), "many", or "alone" (any number if all
    operands are 0-dim); an operand that is written to (``mutates``) is never accepted. ``host``: those that must be on
    the host. ``index``: those that may be on the host while the others are on an accelerator, but not the reverse.
    ``free``: those that may be anywhere.

    The required dtypes. ``match``: groups of parameters that must have equal dtypes. ``match_or_half``: the same, but
    half precision beside float32 is accepted, for a normalization of its data only. ``index_dtypes`` and
    ``target_dtypes``: the only dtypes that a parameter accepts.

    The device of the result, in ``device`` and ``device_if``: "group" (the device of the operands in ``same``),
    "arg:NAME" (the device of that argument), "kwarg" (the argument ``device``, else the default device),
    "kwarg-or:NAME" (the argument ``device``, else the device of NAME), "own" (the device of the method's object), "new"
    (the accelerator if there is one, else the host), "data:NAME" (the device of the elements of the dataset NAME, else
    the host), "host", "none" or "unknown". ``moves``: the arguments that are moved to that device.

    The kind of result, in ``returns`` and ``returns_if``: "tensor", "self", "none", "number", "bool", "string", "size",
    "python", "list" (of any length), "tuple:a,b", "nested:a,(b,c)", "array", "batch" (an unknown number of tensors, all
    on the result's device), "object:CLASS" ("{class}" is the class whose method the callable is), "arguments:a,b" (the
    values given for these), "device", "device-name" (a string), "dtype", "unknown" and others.

    The dtype of the result, in ``dtype`` and ``dtype_if``: a rule, or a tuple of rules if several tensors are returned
    (a single one takes the first). An argument ``dtype`` always decides if it is given. A rule is a dtype; "same:NAME"
    (the dtype of that operand); "promote" (torch's promotion over all tensors and the numbers given in place of
    tensors); "promote-all" (the same, but 0-dim tensors count in full); "promote:a,b" (over these only); a conversion
    of the promoted dtype: "float" (integers become the default float), "sum" (bool and integers become int64), "pow"
    (bool becomes int64), "real", "real-float", "complex", "double"; "kwarg:DTYPE" (the argument ``dtype``, else DTYPE
    or "default"); "kwarg-or:NAME" (the argument ``dtype``, else the dtype of NAME); "arg:NAME" (the dtype that is
    passed as NAME); "literal:a,b" (the dtype of these Python values); or "unknown".

    Whether the result is 0-dim, in ``rank``: "broadcast" (0-dim if all operands are), "same:NAME", "reduce" (0-dim
    without an argument ``dim``, one dimension less with it; as "broadcast" with a second tensor), "reduction" (0-dim
    unless ``reduction="none"``), "zero" (always), "some" (never), "one" and "two" (so many dimensions), "shape" (by the
    size arguments), "shape:NAME" (by that argument; as "broadcast" where no size is given), "product" (0-dim for two
    vectors only), "equation" (by an Einstein summation), "squeeze" (one dimension less with ``dim``, else an unknown
    number), "joined" (the highest rank of the tensors, which are joined along a dimension), "more" (one dimension more
    than the tensors have), "data" (by the literal) or "unknown".

    The effects. ``mutates``: the parameters whose tensors are written to. ``view``: the parameter whose storage the
    result shares; ``may_view``: the same, if it only may share it. ``grad``: "none" or "detach" where the result never
    requires grad; of a hook, "none" where the framework calls it without autograd. ``sync``: "always" where the host
    waits for the accelerator's work, or "unless:NAME" where it waits unless that argument is given.

    ``special``: the name of the special treatment that the interpreter has for the callable, if it has one.
    ``assumed``: whether the row is from a model file, written by hand.
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
        """Whether the described callable has a parameter ``generator``, a random generator.

        The generator must be on the device where the random numbers are drawn.
        """
        return "generator" in self.params

    @builtins.property
    def non_blocking(self) -> bool:
        """Whether the described callable has a parameter ``non_blocking``, so that a copy need not be waited for."""
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


def _dtype_sets(value: Any) -> Mapping[str, frozenset[str]]:
    """Return a mapping from parameter names to lists of dtype names as a mapping to sets."""
    return {name: frozenset(kinds) for name, kinds in value.items()}


def _rules(value: Any) -> str | tuple[str, ...]:
    """Return a dtype rule as it is, or a list of dtype rules as a tuple."""
    return value if isinstance(value, str) else tuple(value)


def _module_row(value: Any) -> ModuleRow:
    """Return the part of a semantics-table row that describes a module class's constructor, parsed from JSON."""
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
    "index_dtypes": _dtype_sets,
    "target_dtypes": _dtype_sets,
    "module": _module_row,
}
