"""The expressions that a half-written program can use, sorted by the kind of value that they have right now."""

from __future__ import annotations

import contextlib
import random
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

Namespace = dict[str, Any]

NOT_OFFERED = set("torch nn F np functools argparse dataclass helpers_of z k p q j layer step".split())
"""Names of libraries, and of variables that templates bind: other statements must not use them."""


Parameters = tuple[tuple[str, str], ...]
"""The parameters of a function: each name with a kind of `Pool`; a kind with `=` behind it may be left out."""


_ROOT = re.compile(r"\w+")
"""The variable at the beginning of an expression."""


@dataclass(slots=True)
class Definitions:
    """The functions and classes that a program has defined so far, with their parameters.

    `classes` has the parameters of each constructor, `methods` those of the methods of each class.
    """

    functions: dict[str, Parameters] = field(default_factory=dict)
    classes: dict[str, Parameters] = field(default_factory=dict)
    methods: dict[str, dict[str, Parameters]] = field(default_factory=dict)

    def is_own(self, kind: type) -> bool:
        """Return whether a class belongs to the program."""
        return kind.__name__ in self.classes

    def methods_of(self, kind: type) -> dict[str, Parameters]:
        """Return the methods of a class of the program, with those that it inherits."""
        found: dict[str, Parameters] = {}
        for base in reversed(kind.__mro__):
            found |= self.methods.get(base.__name__, {})
        return found


@dataclass(slots=True)
class Pool:
    """The expressions with tensors, containers, modules and so on that a namespace offers.

    `by_kind` has expressions with their values; the kinds are letters: `f` float matrix, `t` tensor, `s` 0-dim tensor,
    `i` index, `q` mask, `a` array, `m` module, `M` list of modules, `L` list of tensors, `D` dict of tensors, `U` tuple
    of tensors, `d` device, `y` dtype, `b` boolean, `w` word, `o` object of a class of the program, `v` variable with a
    tensor, `F` function or method, `C` class; the value of the last two is their parameters.
    """

    by_kind: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    preferred: frozenset[str] = frozenset()
    """The variables whose expressions are picked more often than others."""

    def add(self, kind: str, text: str, value: Any) -> None:
        """Add an expression of a kind."""
        self.by_kind.setdefault(kind, []).append((text, value))

    def pick(self, rng: random.Random, kind: str, like: Any = None) -> tuple[str, Any] | None:
        """Return an expression of a kind with its value, often one with the device and dtype of the tensor `like`."""
        found = self.by_kind.get(kind)
        if not found:
            return None
        if like is not None and rng.random() < 0.7:
            same = [one for one in found if one[1].device == like.device and one[1].dtype == like.dtype]
            found = same or found
        if self.preferred and rng.random() < 0.6:
            near = [one for one in found if _ROOT.match(one[0])[0] in self.preferred]  # type: ignore[index]
            found = near or found
        elif rng.random() < 0.5:
            found = found[-4:]  # what was made last
        return rng.choice(found)


def pool_of(names: Namespace, own: Definitions) -> Pool:
    """Return the pool of a namespace in which the functions and classes `own` are defined."""
    pool = Pool()
    for name, value in names.items():
        if name.startswith("__") or name in NOT_OFFERED:
            continue
        if isinstance(value, torch.Tensor):
            pool.add("v", name, value)
        for text, part in _parts(name, value, own, 0):
            for kind in _kinds(part):
                pool.add(kind, text, part)
            _add_calls(pool, text, part, own)
    return pool


def _add_calls(pool: Pool, text: str, value: Any, own: Definitions) -> None:
    """Add the calls that an expression allows: of itself if it is a function or class, and of its methods."""
    name = text.rpartition(".")[2]
    if isinstance(value, type):
        if name in own.classes:
            pool.add("C", text, own.classes[name])
    elif own.is_own(type(value)):
        pool.add("o", text, value)
        for method, parameters in own.methods_of(type(value)).items():
            pool.add("F", f"{text}.{method}", parameters)
    elif callable(value) and name in own.functions:
        pool.add("F", text, own.functions[name])


def _parts(text: str, value: Any, own: Definitions, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the expressions for a value and for what can be reached from it in two steps."""
    yield text, value
    if depth > 1:
        return
    inside: list[tuple[str, Any]] = []
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        inside = [(f"{text}[{number}]", part) for number, part in enumerate(value[:3])]
    elif isinstance(value, dict):
        inside = [(f"{text}[{key!r}]", part) for key, part in list(value.items())[:4] if isinstance(key, str | int)]
    elif isinstance(value, nn.ModuleList):
        inside = [(f"{text}[{number}]", part) for number, part in enumerate(value)]
    elif isinstance(value, nn.Linear):
        inside = [(f"{text}.weight", value.weight), (f"{text}.bias", value.bias)]
    elif isinstance(value, type) and own.is_own(value):
        inside = [(f"{text}.{name}", part) for name, part in vars(value).items() if isinstance(part, torch.Tensor)]
    elif isinstance(value, types.ModuleType) or own.is_own(type(value)):
        inside = [(f"{text}.{name}", part) for name, part in _attributes(value)]
    for deeper, part in inside:
        yield from _parts(deeper, part, own, depth + 1)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """Return the attributes of an object of the program or of its helper file."""
    found = [(name, part) for name, part in vars(value).items() if not name.startswith("_") and name not in NOT_OFFERED]
    for name, part in vars(type(value)).items():
        if isinstance(part, property):
            with contextlib.suppress(Exception):
                found.append((name, getattr(value, name)))
    if isinstance(value, nn.Module):
        found = [(name, part) for name, part in found if name != "training"]
        for registry in (value._parameters, value._buffers, value._modules):
            found += [(name, part) for name, part in registry.items() if name.isidentifier()]
    return found


def _kinds(value: Any) -> Iterator[str]:
    """Yield the kinds of a value."""
    match value:
        case torch.Tensor():
            yield "t"
            if value.is_floating_point() and value.dim() == 2:
                yield "f"
            elif value.dim() == 0:
                yield "s"
            elif value.dtype is torch.int64 and value.dim() == 1:
                yield "i"
            elif value.dtype is torch.bool:
                yield "q"
        case np.ndarray():
            yield "a"
        case bool():
            yield "b"
        case str():
            yield "w"
        case torch.device():
            yield "d"
        case torch.dtype():
            yield "y"
        case nn.ModuleList():
            yield "M"
        case nn.Module():
            yield "m"
        case list() | tuple() if value and all(isinstance(one, nn.Module) for one in value):
            yield "M"
        case list() | tuple() if value and all(isinstance(one, torch.Tensor) for one in value):
            yield "L" if isinstance(value, list) else "U"
        case dict() if value and all(isinstance(one, torch.Tensor) for one in value.values()):
            yield "D"


class Snapshot:
    """The contents of the containers, objects and modules that a namespace reaches, to which they can be restored.

    The contents of tensors are not kept, but the devices and dtypes of parameters are.
    """

    def __init__(self, names: Namespace, own: Definitions) -> None:
        self._own = own
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._data: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._met: set[int] = set()
        for name, value in names.items():
            if not name.startswith("__") and name not in NOT_OFFERED:
                self._save(value)

    def _save(self, value: Any) -> None:
        """Save the contents of a value, and of what it reaches."""
        if type(value) in _PLAIN or id(value) in self._met:
            return
        if isinstance(value, torch.Tensor):
            if type(value) is nn.Parameter:
                self._data.append((value, value.data))
            return
        self._met.add(id(value))
        if isinstance(value, list):
            self._lists.append((value, list(value)))
            parts: Any = value
        elif isinstance(value, dict):
            self._dicts.append((value, dict(value)))
            parts = value.values()
        elif isinstance(value, tuple):
            parts = value
        elif isinstance(value, types.FunctionType):
            parts = value.__defaults__ or ()
        elif isinstance(value, nn.Module):
            registries = (value._parameters, value._buffers, value._modules)
            for registry in registries:
                if registry:
                    self._save(registry)
            if not self._own.is_own(type(value)):
                return
            contents = vars(value)
            self._dicts.append((contents, dict(contents)))
            parts = [one for name, one in contents.items() if name[0] != "_"]
        elif self._own.is_own(type(value)):
            parts = (vars(value),)
        elif isinstance(value, type) and self._own.is_own(value):
            parts = [one for one in vars(value).values() if type(one) is list]
        else:
            return
        for part in parts:
            self._save(part)

    def restore(self) -> None:
        """Restore what was saved."""
        for kept, items in self._lists:
            kept[:] = items
        for table, entries in self._dicts:
            if table.keys() != entries.keys() or any(table[key] is not entries[key] for key in entries):
                table.clear()
                table.update(entries)
        for parameter, data in self._data:
            if parameter.device != data.device or parameter.dtype != data.dtype:
                parameter.data = data


_PLAIN = {torch.Tensor, int, float, str, bool, type(None), np.ndarray, torch.device, torch.dtype}
"""The types of values without contents."""
