"""Kinds of values that the keys of devlint's configuration take: how to check a value, and its JSON schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from devlint.semantics.accelerators import VERSION_PATTERN, Version, parse_version

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ValueKind(Generic[T]):
    """A kind of value in devlint's configuration, such as a string or a list of strings.

    `parse` returns the checked value, or raises ValueError with what was expected. `schema` is the JSON schema of the
    values.
    """

    parse: Callable[[object], T]
    schema: Schema


def _string(value: object) -> str:
    """Return a configuration value that is a string as it is. Raises ValueError for any other value."""
    if not isinstance(value, str):
        raise ValueError(f"expected a string, got {_shown(value)}")
    return value


def _flag(value: object) -> bool:
    """Return a configuration value that is a bool as it is. Raises ValueError for any other value."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {_shown(value)}")
    return value


def _strings(value: object) -> tuple[str, ...]:
    """Return a configuration value that is a list of strings as a tuple. Raises ValueError for any other value."""
    if not isinstance(value, list):
        raise ValueError(f"expected a list of strings, got {_shown(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"expected a list of strings, got one with {_shown(item)} in it")
    return tuple(value)


def _shown(value: object) -> str:
    """Return a configuration value as an error message shows it: JSON, or "a list" or "a table"."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return json.dumps(value, default=str)


def _torch_version(value: object) -> Version:
    """Return a version of torch, such as "2.9", as numbers. Raises ValueError for any other value."""
    return parse_version(_string(value))


STRING = ValueKind(_string, {"type": "string"})
FLAG = ValueKind(_flag, {"type": "boolean"})
TORCH_VERSION = ValueKind(_torch_version, {"type": "string", "pattern": f"^{VERSION_PATTERN}$"})
STRINGS = ValueKind(_strings, {"type": "array", "items": {"type": "string"}})


def one_of(members: type[E]) -> ValueKind[E]:
    """Return the kind of configuration values that are the value of a member of this enumeration."""
    values = [member.value for member in members]

    def parse(value: object) -> E:
        if value not in values:
            raise ValueError(f"expected one of {', '.join(map(json.dumps, values))}, got {_shown(value)}")
        return members(value)

    return ValueKind(parse, {"enum": values})


def table_of(kind: ValueKind[T]) -> ValueKind[dict[str, T]]:
    """Return the kind of configuration values that are TOML tables with values of the kind `kind` only."""

    def parse(value: object) -> dict[str, T]:
        if not isinstance(value, dict):
            raise ValueError(f"expected a table, got {_shown(value)}")
        return {name: parse_item(name, item) for name, item in value.items()}

    def parse_item(name: str, item: object) -> T:
        try:
            return kind.parse(item)
        except ValueError as problem:
            raise ValueError(f"`{name}`: {problem}") from None

    return ValueKind(parse, {"type": "object", "additionalProperties": kind.schema})
