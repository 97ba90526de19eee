"""Search for the tensors that an object reaches: through attributes, containers, closures, partials and caches.

Nothing of the program is called on the way: attributes are read where they are stored.
"""

from __future__ import annotations

import functools
import gc
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, Dataset, Sampler

from devlint.runtime.call_sites import is_library

MOST_OBJECTS = 100_000
"""The number of objects after which a search ends, nearest objects first."""
_NOT_FOLLOWED = (
    *(str, bytes, bytearray, int, float, complex, range, type, ModuleType, CodeType, FrameType, TracebackType),
    *(BuiltinMethodType, torch.dtype, torch.device, torch.UntypedStorage, torch.TypedStorage, torch.Generator),
    *(torch.optim.Optimizer, LRScheduler, Dataset, DataLoader, Sampler),
)
"""Types of objects without tensors, or with tensors of which one does not expect that they move with a module."""
_SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
"""Types of containers whose elements are numbered. Subclasses are iterated as these, since theirs may do anything."""
_MODULE_TABLES = ("_parameters", "_buffers", "_modules")
"""The attributes in which a module keeps what it has registered."""

Edge = tuple[str, Any]
"""How to write the way from an object to another one, such as `.mask` or `[0]`, and the other object."""


def reachable_tensors(root: Any, name: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield each tensor that an object reaches, once, with the shortest path to it, such as `model.blocks[0].mask`.

    `name` is what the path calls the object itself. What a class shares between its objects is followed too, but not to
    other modules: a register of all instances says nothing of this one.
    """
    seen = {id(root)}
    queue: deque[tuple[str, Any, bool]] = deque([(name, root, False)])
    while queue and len(seen) < MOST_OBJECTS:
        path, value, shared = queue.popleft()
        if isinstance(value, torch.Tensor):
            yield path, value
            continue
        own = ((way, inner, shared) for way, inner in _edges(value))
        of_class = ((way, inner, True) for way, inner in _class_edges(value))
        for way, inner, with_others in (*own, *of_class):
            if inner is None or isinstance(inner, _NOT_FOLLOWED) or id(inner) in seen:
                continue
            if with_others and isinstance(inner, nn.Module):
                continue
            seen.add(id(inner))
            queue.append((path + way, inner, with_others))


def _edges(value: Any) -> Iterator[Edge]:
    """Yield the objects that an object itself reaches directly."""
    if isinstance(value, dict):
        for key, inner in list(dict.items(value)):
            yield (f"[{key!r}]" if isinstance(key, str | int) else f"[{type(key).__name__}]"), inner
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield from ((f".{field}", inner) for field, inner in zip(value._fields, tuple.__iter__(value), strict=False))
    elif isinstance(value, _SEQUENCES):
        own = next(kind for kind in _SEQUENCES if isinstance(value, kind))
        yield from ((f"[{index}]", inner) for index, inner in enumerate(list(own.__iter__(value))))
    elif isinstance(value, FunctionType):
        yield from _function_edges(value)
    elif isinstance(value, MethodType):
        yield ".__self__", value.__self__
        yield "", value.__func__
    elif isinstance(value, functools.partial):
        yield ".func", value.func
        yield ".args", value.args
        yield ".keywords", value.keywords
    elif isinstance(value, functools._lru_cache_wrapper):
        # The cache is kept in C, where only the garbage collector looks.
        yield from ((" (cached)", inner) for inner in gc.get_referents(value) if not isinstance(inner, str))
    if not isinstance(value, FunctionType | MethodType):
        yield from _attribute_edges(value)


def _function_edges(function: FunctionType) -> Iterator[Edge]:
    """Yield what a function of the program keeps: the variables that it closes over, and its default arguments."""
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f" (its variable {variable})", cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    for name, inner in (*zip(names[len(names) - len(defaults) :], defaults, strict=True), *_keyword_defaults(function)):
        yield f" (its default {name})", inner
    yield from ((f".{name}", inner) for name, inner in vars(function).items())


def _keyword_defaults(function: FunctionType) -> tuple[tuple[str, Any], ...]:
    """Return the names and values of a function's defaults for parameters that only a keyword can give."""
    return tuple((function.__kwdefaults__ or {}).items())


def _attribute_edges(value: Any) -> Iterator[Edge]:
    """Yield the attributes of an object itself; of a module, what it has registered comes first."""
    own = _instance_attributes(value)
    if isinstance(value, nn.Module):
        for table in _MODULE_TABLES:
            for name, inner in (own.get(table) or {}).items():
                yield _registered(value, name), inner
    for name, inner in own.items():
        if not (isinstance(value, nn.Module) and name in _MODULE_TABLES):
            yield f".{name}", inner


def _class_edges(value: Any) -> Iterator[Edge]:
    """Yield the attributes that an object shares with all others of its class."""
    if not isinstance(value, FunctionType | MethodType):
        for owner in type(value).__mro__:
            for name, inner in _class_attributes(owner):
                yield f".{name}", inner


def _registered(module: nn.Module, name: str) -> str:
    """Return how a program writes what a module has registered under a name."""
    if isinstance(module, nn.ModuleDict | nn.ParameterDict):
        return f"[{name!r}]"
    return f"[{name}]" if name.isdigit() else f".{name}"


def _instance_attributes(value: Any) -> dict[str, Any]:
    """Return the attributes that an object stores itself, in its `__dict__` or in slots."""
    found: dict[str, Any] = {}
    for owner in type(value).__mro__:
        slots = vars(owner).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            member = vars(owner).get(name)
            try:
                found[name] = member.__get__(value)  # type: ignore[union-attr]
            except AttributeError:  # the slot is empty, or has a mangled name
                continue
    with suppress(AttributeError):
        found.update(object.__getattribute__(value, "__dict__"))
    return found


def _class_attributes(owner: type) -> Iterator[Edge]:
    """Yield the attributes of a class of the program that may hold tensors: values, caches and closures of methods."""
    if owner.__module__ == "builtins" or _of_library(owner):
        return
    for name, inner in list(vars(owner).items()):
        held = inner.__func__ if isinstance(inner, staticmethod | classmethod) else inner
        if not name.startswith("__") and not isinstance(held, property):
            yield name, held


def _of_library(owner: type) -> bool:
    """Return whether a class is defined in a library, by the file of its first method; generated classes are not."""
    for member in vars(owner).values():
        if isinstance(member, FunctionType) and not member.__code__.co_filename.startswith("<"):
            return is_library(member.__code__.co_filename)
    return owner.__module__.partition(".")[0] in ("torch", "numpy", "collections", "typing", "enum", "abc")
