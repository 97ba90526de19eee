"""The keys of `[tool.devlint]`: what each one takes, how it is checked and what it means."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from devlint.config.errors import ConfigError, unknown
from devlint.diagnostic import Confidence

T = TypeVar("T")
Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Options:
    """What one source of configuration says; None where it says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] | None = None
    per_file_ignores: Mapping[str, tuple[str, ...]] | None = None
    min_confidence: Confidence | None = None
    src: tuple[str, ...] | None = None
    force_exclude: bool | None = None
    respect_gitignore: bool | None = None


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """One key: how its value is checked, its JSON schema and what it means."""

    name: str
    parse: Callable[[object], T]
    schema: Schema
    help: str

    @property
    def field(self) -> str:
        """The attribute of `Options` that holds the value."""
        return self.name.replace("-", "_")


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, got {_shown(value)}")
    return tuple(value)


def _strings_by_pattern(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of pattern = [rules], got {_shown(value)}")
    return {pattern: _strings(item) for pattern, item in value.items()}


def _confidence(value: object) -> Confidence:
    names = [confidence.value for confidence in Confidence]
    if value not in names:
        choices = ", ".join(f'"{name}"' for name in names)
        raise ValueError(f"expected one of {choices}, got {_shown(value)}")
    return Confidence(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {_shown(value)}")
    return value


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    return json.dumps(value, default=str)


_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}
_RULES: Schema = {**_STRINGS, "description": "Codes, beginnings of codes (`DEV1`), names, or `ALL`."}
_FLAG: Schema = {"type": "boolean"}

KEYS: Sequence[Key[Any]] = (
    Key("select", _strings, _RULES, "The rules that are on, instead of the default ones."),
    Key("ignore", _strings, _RULES, "Rules that are off. The more precise of two selectors wins."),
    Key("extend-select", _strings, _RULES, "Rules that are on besides those of `select` or the default ones."),
    Key("exclude", _strings, _STRINGS, "Patterns of files and directories left out, instead of the default ones."),
    Key("extend-exclude", _strings, _STRINGS, "Patterns of files and directories left out besides `exclude`."),
    Key(
        "per-file-ignores",
        _strings_by_pattern,
        {"type": "object", "additionalProperties": _RULES},
        "Rules that are off in the files that a pattern matches.",
    ),
    Key(
        "min-confidence",
        _confidence,
        {"enum": [confidence.value for confidence in Confidence]},
        "Findings that devlint is less sure of are left out.",
    ),
    Key("src", _strings, _STRINGS, "Directories from which the project's own modules are imported."),
    Key("force-exclude", _flag, _FLAG, "Leave out excluded files even where they are named on the command line."),
    Key("respect-gitignore", _flag, _FLAG, "Leave out what `.gitignore` leaves out."),
)
assert [key.field for key in KEYS] == [field.name for field in fields(Options)], "every key has its attribute"


def parse_options(table: Mapping[str, object], source: Path) -> Options:
    """Check a table of settings; `source` is named in what is raised."""
    known = {key.name: key for key in KEYS}
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            raise ConfigError(source, "", unknown("setting", name, known))
        try:
            values[known[name].field] = known[name].parse(value)
        except ValueError as problem:
            raise ConfigError(source, name, str(problem)) from None
    return Options(**values)
