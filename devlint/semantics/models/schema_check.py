"""Check of data against a JSON schema, for those parts of JSON Schema that devlint's own schemas use."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "integer": (int,),
}
_ARTICLES: Final = {"array": "a list", "object": "a table", "boolean": "true or false", "integer": "an integer"}


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """A value in a file that does not fit a JSON schema: its key, such as `rows.acme.load.device`, and the problem."""

    key: str
    message: str


def first_problem(data: object, schema: Schema) -> SchemaProblem | None:
    """Return the first value in ``data`` that does not fit a JSON schema, with its problem, None if ``data`` fits."""
    return next(_problems(data, schema, schema, ""), None)


def _problems(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield the first problem of a value with a JSON schema. Yields nothing if the value fits.

    ``root`` is the whole schema, to whose definitions `$ref` refers, and ``key`` is the value's key in the file.
    """
    if "$ref" in schema:
        schema = root["definitions"][schema["$ref"].rpartition("/")[2]]
    for keyword, check in _CHECKS.items():
        if keyword in schema:
            found = next(check(value, schema, root, key), None)
            if found is not None:
                yield found
                return


def _type(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield a problem if a value is not of the type under the JSON Schema keyword `type`."""
    kind = schema["type"]
    if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        yield SchemaProblem(key, f"expected {_ARTICLES.get(kind, f'a {kind}')}, got {_shown(value)}")


def _enum(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield a problem if a value is not one of those under the JSON Schema keyword `enum`."""
    if value not in schema["enum"]:
        choices = [json.dumps(one) for one in schema["enum"]]
        shown = ", ".join(choices)
        yield SchemaProblem(key, f"expected one of {shown}, got {_shown(value)}{_suggestion(_shown(value), choices)}")


def _pattern(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield a problem if a text does not match the regular expression under the JSON Schema keyword `pattern`."""
    if isinstance(value, str) and not re.search(schema["pattern"], value):
        meant = schema.get("description", f"something that matches {schema['pattern']}")
        yield SchemaProblem(key, f"expected {meant}, got {_shown(value)}")


def _any_of(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield the problem if a value fits none of the schemas under the JSON Schema keyword `anyOf`.

    Of the problems with each schema, the one whose value is nested deepest is taken.
    """
    found = [next(_problems(value, one, root, key), None) for one in schema["anyOf"]]
    if all(found):
        # Report the problem of the form that fits best: the one whose problem is nested deepest.
        yield max((one for one in found if one is not None), key=lambda one: len(one.key))


def _names(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield the problems of an object's member names with the schema under the JSON Schema keyword `propertyNames`."""
    for name in value if isinstance(value, dict) else ():
        for problem in _problems(name, schema["propertyNames"], root, _member_key(key, name)):
            yield SchemaProblem(problem.key, problem.message.replace(", got ", ", not "))


def _members(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield the problems of an object's members by the JSON Schema keywords `properties`, `additionalProperties`."""
    known: Schema = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    for name, item in value.items() if isinstance(value, dict) else ():
        if name in known:
            yield from _problems(item, known[name], root, _member_key(key, name))
        elif other is False:
            yield SchemaProblem(_member_key(key, name), f"there is no such key here{_suggestion(name, list(known))}")
        elif isinstance(other, dict):
            yield from _problems(item, other, root, _member_key(key, name))


def _items(value: object, schema: Schema, root: Schema, key: str) -> Iterator[SchemaProblem]:
    """Yield the problem of each item of a list that does not fit the schema under the JSON Schema keyword `items`."""
    for number, item in enumerate(value if isinstance(value, list) else ()):
        yield from _problems(item, schema["items"], root, f"{key}[{number}]")


_CHECKS: Final[Mapping[str, Callable[[object, Schema, Schema, str], Iterator[SchemaProblem]]]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _pattern,
    "anyOf": _any_of,
    "propertyNames": _names,
    "properties": _members,
    "additionalProperties": _members,
    "items": _items,
}


def _member_key(key: str, name: str) -> str:
    """Return the dotted key of a member of a JSON object, given the key of the object and the member's name."""
    return f"{key}.{name}" if key else name


def _shown(value: object) -> str:
    """Return a value as an error message shows it: JSON, or "a list" or "a table" for a value with items."""
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else json.dumps(value)


def _suggestion(name: str, known: list[str]) -> str:
    """Return ` (did you mean ...?)` with the known name closest to ``name``, or an empty text if none is close."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean `{close[0]}`?)" if close else ""
