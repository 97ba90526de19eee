"""What each library call does to device, dtype and rank: rows read from the data files, built when first asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """How an ``nn.Module`` class is built; calling it is described by the row around this."""

    init: tuple[str, ...] = ()
    parameters: str = "never"
    buffers: str = "never"
    attributes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    factory_kwargs: bool = False
    defaults: Mapping[str, bool] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Row:
    """One callable: what it demands of the devices and dtypes of its tensors, and what comes out.

    Which arguments there are:

    ``params`` in order, "*" before keyword-only names, "*name" variadic; ``overloads`` where the forms disagree by
    position; ``tensors`` those that take tensors, ``sequences`` those of them that take several. The pseudo-parameter
    "parameters" stands for a module's own tensors.

    What they demand:

    ``same`` must share a device, but that ``scalars`` (0, 1 or "many") 0-dim host operands are let through, never
    one that is written to (``mutates``). ``host`` must be on the host. ``index`` may be on the host while the others
    are on an accelerator, not the reverse. ``free`` may be anywhere.
    ``match``: groups that must have equal dtypes; ``match_or_half``: the same, but that half precision beside float32
    passes. ``index_dtypes`` and ``target_dtypes``: the only dtypes taken.

    What comes out:

    ``device``: "group" (that of ``same``), "arg:NAME", "kwarg" (``device=``, else the default device),
    "kwarg-or:NAME" (``device=``, else that of NAME), "host", "none" or "unknown".
    ``returns``: "tensor", "self", "none", "number", "bool", "string", "size", "python", "list" (of any length),
    "tuple:a,b", "nested:a,(b,c)", "array", "unknown", ...; ``returns_if`` by an argument that is given ("a+b" for two;
    the first entry that applies counts).
    ``dtype``, a tuple of rules where several tensors come out (a single one takes the first), and ``dtype_if`` by an
    argument that is given. ``dtype=`` always decides where it is a parameter and given. A rule is a dtype;
    "same:NAME"; "promote" (torch's promotion over all tensors and numbers given for them) or "promote-all" (0-dim
    tensors count in full); a conversion of what they promote to, or with ":NAME" of one operand's: "float" (integers
    become the default float), "sum" (bool and integers become int64), "pow" (bool becomes int64), "real", "real-float",
    "complex", "double"; "kwarg:DTYPE" (``dtype=``, else DTYPE or "default"), "kwarg-or:NAME"; "literal:a,b" (that of
    the Python values given); or "unknown".
    ``rank`` (0-dim or not): "broadcast" (0-dim if all operands are), "same:NAME", "reduce" (0-dim without ``dim``;
    with it unknown), "reduction" (0-dim unless ``reduction="none"``), "zero", "some" (never 0-dim), "shape" (from the
    size arguments), "data" (from the literal) or "unknown".
    ``view``: whose storage the result shares; ``may_view``: may share. ``grad``: "none" or "detach" where the result
    never requires grad. ``sync``: "always", or "unless:NAME" is given, where an accelerator's work is waited for.
    """

    name: str
    params: tuple[str, ...] = ()
    overloads: tuple[tuple[str, ...], ...] = ()
    tensors: tuple[str, ...] = ()
    sequences: frozenset[str] = frozenset()
    same: tuple[str, ...] = ()
    scalars: int | str = 0
    host: frozenset[str] = frozenset()
    index: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    device: str = "group"
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
    provenance: str = ""


class Table:
    """Rows by canonical qualified name."""

    def __init__(self, data: Mapping[str, Any], prefix: str = "torch.") -> None:
        self.version: str = data["version"]
        self.argument_aliases: Mapping[str, str] = data.get("argument_aliases", _NOTHING)
        self.coverage: Mapping[str, Any] = data.get("coverage", _NOTHING)
        self._prefix = prefix
        self._aliases: Mapping[str, str] = data["aliases"]
        self._data: Mapping[str, Mapping[str, Any]] = data["rows"]
        self._rows: dict[str, Row | None] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def aliases(self) -> Mapping[str, str]:
        """Other public names, to canonical ones."""
        return self._aliases

    def canonical(self, name: str) -> str:
        """The name under which the table knows ``name``."""
        return self._aliases.get(name, name)

    def find(self, name: str) -> Row | None:
        """The row of a qualified public name, or None where the table does not know it."""
        if name not in self._rows:
            key = self.canonical(name)
            cells = self._data.get(key)
            self._rows[name] = None if cells is None else _row(key, cells)
        return self._rows[name]

    def cells(self, name: str) -> Mapping[str, Any]:
        """The row of a canonical name as the data file spells it."""
        return self._data[name]

    def method(self, name: str) -> Row | None:
        """The row of a ``Tensor`` method, operator or property."""
        return self.find(f"{self._prefix}Tensor.{name}")


def _row(name: str, cells: Mapping[str, Any]) -> Row:
    values = dict(cells)
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
    return frozenset([value] if isinstance(value, str) else value)


def _lists(value: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, value))


def _kinds(value: Any) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(kinds) for name, kinds in value.items()}


def _rules(value: Any) -> str | tuple[str, ...]:
    return value if isinstance(value, str) else tuple(value)


def _module(value: Any) -> ModuleRow:
    return ModuleRow(**{**value, "init": tuple(value.get("init", ()))})


_SHAPES: Mapping[str, Any] = {
    "params": tuple,
    "overloads": _lists,
    "match": _lists,
    "match_or_half": _lists,
    "host": _names,
    "index": _names,
    "free": _names,
    "mutates": _names,
    "dtype": _rules,
    "dtype_if": lambda value: {name: _rules(rule) for name, rule in value.items()},
    "index_dtypes": _kinds,
    "target_dtypes": _kinds,
    "module": _module,
}


def _read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name(name).read_bytes())
    return data


@cache
def load_table() -> Table:
    """The table of torch."""
    return Table(_read("torch.json"))


@cache
def load_numpy_table() -> Table:
    """The table of NumPy and pandas, with methods of arrays under ``numpy.ndarray``."""
    return Table(_read("numpy.json"), "numpy.")
