"""The keys of devlint's configuration, as in the table `[tool.devlint]`: each key's values and its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from devlint.config.config_error import ConfigError, row_of_setting, unknown_name_message
from devlint.config.value_kinds import FLAG, STRING, STRINGS, TORCH_VERSION, ValueKind, one_of, table_of
from devlint.diagnostic import Confidence, Severity
from devlint.semantics.accelerators import Version


@dataclass(frozen=True, slots=True)
class Options:
    """The options that one source of configuration, a file or the command line, gives; None for an option not given."""

    extend: str | None = None
    required_version: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    per_file_ignores: Mapping[str, tuple[str, ...]] | None = None
    severity: Mapping[str, Severity] | None = None
    min_confidence: Confidence | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] | None = None
    force_exclude: bool | None = None
    respect_gitignore: bool | None = None
    src: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    cache_dir: str | None = None
    min_torch: Version | None = None
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """A key of devlint's configuration: its name, the kind of value that it takes, and its meaning in one sentence."""

    name: str
    kind: ValueKind[Any]
    help: str

    @property
    def field(self) -> str:
        """The name of the attribute of `Options` that holds the value of the key."""
        return self.name.replace("-", "_")


CONFIG_KEYS: Sequence[ConfigKey] = (
    ConfigKey("extend", STRING, "Another configuration file. Its settings apply where this file has none."),
    ConfigKey(
        "required-version", STRING, 'The versions of devlint that this configuration works with, such as ">=0.1,<2".'
    ),
    ConfigKey("select", STRINGS, "The rules to turn on, instead of the default ones; `ALL` is every rule."),
    ConfigKey(
        "ignore", STRINGS, "Rules to turn off. Where `select` names the same rule, the more specific selector wins."
    ),
    ConfigKey("extend-select", STRINGS, "Rules to turn on in addition to `select` or to the default ones."),
    ConfigKey("per-file-ignores", table_of(STRINGS), "Rules to turn off in the files that a pattern matches."),
    ConfigKey(
        "severity",
        table_of(one_of(Severity)),
        "The severity of a rule's findings, instead of the rule's own severity.",
    ),
    ConfigKey(
        "min-confidence",
        one_of(Confidence),
        "The lowest confidence to report; findings with a lower one are left out.",
    ),
    ConfigKey("exclude", STRINGS, "Patterns of files and directories to leave out, instead of the default ones."),
    ConfigKey("extend-exclude", STRINGS, "Patterns of files and directories to leave out in addition to `exclude`."),
    ConfigKey("force-exclude", FLAG, "Leave out excluded files even if they are named on the command line."),
    ConfigKey("respect-gitignore", FLAG, "Leave out files that `.gitignore` excludes."),
    ConfigKey("src", STRINGS, "Directories that the project's own modules are imported from."),
    ConfigKey(
        "models",
        STRINGS,
        "Files that describe what libraries do to devices and dtypes; docs/models.md gives the format.",
    ),
    ConfigKey("cache-dir", STRING, "The folder of the cache, instead of `.devlint_cache` beside the configuration."),
    ConfigKey(
        "min-torch",
        TORCH_VERSION,
        "The oldest torch that the code supports, such as `2.9`: what it lacks is not suggested.",
    ),
    ConfigKey("baseline", STRING, "The baseline file: the findings that it records are left out."),
)
assert [key.field for key in CONFIG_KEYS] == [field.name for field in fields(Options)], "every key has its attribute"


def parse_options(table: Mapping[str, object], path: Path) -> Options:
    """Return the options in a TOML table of devlint's settings, which was read from the file at `path`.

    Raises ConfigError, which names that file, for an unknown key or an invalid value.
    """
    known = {key.name: key for key in CONFIG_KEYS}
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            raise ConfigError(path, "", unknown_name_message("setting", name, known), row_of_setting(path, name))
        try:
            values[known[name].field] = known[name].kind.parse(value)
        except ValueError as problem:
            raise ConfigError(path, name, str(problem)) from None
    return Options(**values)
