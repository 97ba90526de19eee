"""Conversion of frozen records to JSON values and back, by the types of their fields.

A record becomes the list of its fields. Where a field may hold records of several types, a record comes with the name
of its class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def to_json(record: object) -> Any:
    """Return a record as a value of lists, dicts, strings, numbers and None.

    Raises TypeError if the record does not consist of records, enumerations, tuples, sets and plain values.
    """
    kind: Any = type(record)
    return _writer(kind)(record)


def from_json(kind: type[Record], data: Any) -> Record:
    """Return the record of a type that `to_json` has converted.

    Raises TypeError, ValueError or KeyError for a value that is no such record.
    """
    reader: Callable[[Any], Record] = _reader(cast("Any", kind))
    return reader(data)


def _is_class(kind: Any) -> bool:
    """Return whether a type is a plain class, such as `str`, and not one like `tuple[str, ...]`."""
    return isinstance(kind, type) and get_origin(kind) is None


def _is_record(kind: Any) -> bool:
    """Return whether a type is a class of records."""
    return _is_class(kind) and is_dataclass(kind)


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return the names and the types of a record's fields."""
    hints = get_type_hints(kind)
    return tuple((one.name, hints[one.name]) for one in fields(kind))


@cache
def _writer(kind: Any) -> Callable[[Any], Any]:
    """Return the function that converts a value of a type to JSON."""
    if kind in (str, int, float, bool, NoneType):
        return lambda value: value
    if _is_class(kind) and issubclass(kind, Enum):
        return lambda value: value.value
    if _is_record(kind):
        parts = [(name, _writer(hint)) for name, hint in _fields(kind)]
        return lambda value: [write(getattr(value, name)) for name, write in parts]
    origin, among = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        known = [one for one in among if one is not NoneType]
        if len(known) == 1:
            write_known = _writer(known[0])
            return lambda value: None if value is None else write_known(value)
        return lambda value: _write_one_of(known, value)
    if origin is frozenset:
        write_item = _writer(among[0])
        return lambda value: sorted((write_item(one) for one in value), key=repr)
    if origin is tuple and among[-1] is ...:
        write_each = _writer(among[0])
        return lambda value: [write_each(one) for one in value]
    if origin is tuple:
        writers = [_writer(one) for one in among]
        return lambda value: [write(one) for write, one in zip(writers, value, strict=True)]
    raise TypeError(f"no JSON for {kind}")


def _write_one_of(kinds: list[Any], value: Any) -> Any:
    """Return a value of one of several types as JSON: a record with the name of its class."""
    for kind in kinds:
        if type(value) is (get_origin(kind) or kind):
            written = _writer(kind)(value)
            return {kind.__name__: written} if _is_record(kind) else written
    if value is None:
        return None
    raise TypeError(f"no JSON for {value!r}")


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that converts JSON to a value of a type."""
    if kind in (str, int, float, bool, NoneType):
        return lambda data: _checked(kind, data)
    if _is_class(kind) and issubclass(kind, Enum):
        return cast("Callable[[Any], Any]", kind)
    if _is_record(kind):
        readers = [_reader(hint) for _, hint in _fields(kind)]
        return lambda data: kind(*(read(one) for read, one in zip(readers, data, strict=True)))
    origin, among = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        known = [one for one in among if one is not NoneType]
        if len(known) == 1:
            read_known = _reader(known[0])
            return lambda data: None if data is None else read_known(data)
        return lambda data: _read_one_of(known, data)
    if origin is frozenset:
        read_item = _reader(among[0])
        return lambda data: frozenset(read_item(one) for one in data)
    if origin is tuple and among[-1] is ...:
        read_each = _reader(among[0])
        return lambda data: tuple(read_each(one) for one in data)
    if origin is tuple:
        readers = [_reader(one) for one in among]
        return lambda data: tuple(read(one) for read, one in zip(readers, data, strict=True))
    raise TypeError(f"no JSON for {kind}")


def _read_one_of(kinds: list[Any], data: Any) -> Any:
    """Return the value of one of several types that `_write_one_of` has converted."""
    if data is None:
        return None
    if isinstance(data, dict):
        ((name, written),) = data.items()
        return _reader(next(kind for kind in kinds if _is_record(kind) and kind.__name__ == name))(written)
    wanted = tuple if isinstance(data, list) else type(data)
    kind = next((kind for kind in kinds if (get_origin(kind) or kind) is wanted), None)
    return _reader(kind)(data)


def _checked(kind: type, data: Any) -> Any:
    """Return a plain value; raises TypeError if it is of another type."""
    if type(data) is not kind:
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data
