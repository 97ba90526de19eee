"""Conversion between frozen dataclasses and the plain data of JSON: numbers, strings, lists.

A dataclass becomes the list of its fields, an enum member its value. The annotations of the dataclass say how to read
them back, so the data needs no names of types, and reading it runs no code but that of the dataclasses.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

_PLAIN = (str, int, float, bool, type(None))


class PlainDataError(ValueError):
    """The error for data that has not the shape of the type as which it is read."""


def to_plain(value: object) -> object:
    """Return a value as plain data; raises TypeError for a value of a kind that has no plain form."""
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return [to_plain(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, (frozenset, set)):
        return sorted(cast("set[str]", {to_plain(one) for one in value}))
    if isinstance(value, Mapping):
        return [[to_plain(key), to_plain(one)] for key, one in value.items()]
    if isinstance(value, Sequence):
        return [to_plain(one) for one in value]
    raise TypeError(f"no plain form for a {type(value).__name__}")


def from_plain(kind: type[T], data: object) -> T:
    """Return the value of a type that `to_plain` has made the data from; raises PlainDataError where it does not fit.

    The type may be a dataclass, an enum, a plain type, or a tuple, frozenset, mapping or union of such types.
    """
    try:
        value: T = _reader(cast("Any", kind))(data)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise PlainDataError(f"not the data of a {kind}: {error}") from None
    return value


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that reads the values of a type from plain data."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        (some,) = [one for one in inner if one is not type(None)]
        read = _reader(some)
        return lambda data: None if data is None else read(data)
    if origin is tuple and inner[-1] is Ellipsis:
        read = _reader(inner[0])
        return lambda data: tuple([read(one) for one in data])
    if origin is tuple:
        readers = [_reader(one) for one in inner]
        return lambda data: tuple([each(one) for each, one in zip(readers, data, strict=True)])
    if origin is frozenset:
        read = _reader(inner[0])
        return lambda data: frozenset([read(one) for one in data])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        read_key, read = map(_reader, inner)
        return lambda data: {read_key(key): read(one) for key, one in data}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass_reader(kind)
    if kind in _PLAIN:
        return lambda data: _checked(kind, data)
    raise TypeError(f"no plain form for {kind}")


def _dataclass_reader(kind: type) -> Callable[[Any], Any]:
    """Return the function that makes a dataclass from the list of its fields."""
    hints = get_type_hints(kind)
    readers = [_reader(hints[one.name]) for one in fields(kind)]
    return lambda data: kind(*[read(one) for read, one in zip(readers, data, strict=True)])


def _checked(kind: type, data: object) -> object:
    """Return a plain value; raises TypeError if it is of another type."""
    if type(data) is not kind:
        raise TypeError(f"{data!r} is not a {kind.__name__}")
    return data
