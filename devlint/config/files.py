"""The configuration file that governs a directory: the nearest one that speaks of devlint."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from devlint.config.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILENAME = "pyproject.toml"


def nearest(directory: Path) -> tuple[Path, Mapping[str, object]] | None:
    """The configuration file at or above the directory, with its table of settings."""
    for folder in (directory, *directory.parents):
        path = folder / FILENAME
        if path.is_file() and (table := read_table(path)) is not None:
            return path, table
    return None


def read_table(path: Path) -> Mapping[str, object] | None:
    """The table `[tool.devlint]` of the file, or None where the file says nothing of devlint."""
    try:
        content = path.read_bytes()
        # A file that never names devlint cannot configure it, and need not be one that can be parsed.
        if b"devlint" not in content:
            return None
        tool = tomllib.loads(content.decode()).get("tool", {})
    except OSError as problem:
        raise ConfigError(path, "", problem.strerror or str(problem)) from None
    except UnicodeDecodeError:
        raise ConfigError(path, "", "not valid UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(path, "", f"not valid TOML: {problem}") from None
    table = tool.get("devlint")
    if table is not None and not isinstance(table, dict):
        raise ConfigError(path, "tool.devlint", "expected a table")
    return table
