"""Find and read devlint's configuration files, and the further configuration files that they extend."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devlint.config.config_error import ConfigError, row_of_setting
from devlint.config.config_options import Options, parse_options
from devlint.config.version_requirement import version_satisfies
from devlint.version import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILENAMES = ("devlint.toml", ".devlint.toml", "pyproject.toml")
"""The names of configuration files; the first that exists in a directory is used."""


def find_config_file(directory: Path) -> Path | None:
    """Return the path of devlint's configuration file in a directory, None if there is none.

    A `pyproject.toml` counts only if it has a table `[tool.devlint]`.
    """
    files = (directory / name for name in FILENAMES)
    return next((file for file in files if file.is_file() and _table(file) is not None), None)


def read_config_chain(path: Path) -> list[tuple[Path, Options]]:
    """Return the path and the options of a configuration file and of all files it extends.

    The file itself comes last, behind the files it extends.
    """
    found = list(_extended_chain(path))
    return found[::-1]


def _extended_chain(path: Path) -> Iterator[tuple[Path, Options]]:
    """Yield the path and the options of a configuration file, then of the file it extends, and so on."""
    seen: list[Path] = []
    while True:
        seen.append(path)
        options = _read(path)
        yield path, options
        if options.extend is None:
            return
        target = (path.parent / Path(options.extend).expanduser()).resolve()
        if target in seen:
            raise ConfigError(path, "extend", f"{target} extends this file itself")
        if not target.is_file():
            raise ConfigError(path, "extend", f"{target}: no such file")
        path = target


def _read(path: Path) -> Options:
    """Return the options in one configuration file, without those of files that it extends.

    Raises ConfigError if the file is unreadable or not valid.
    """
    table = _table(path)
    if table is None:
        raise ConfigError(path, "", "there is no table [tool.devlint]")
    # Check the version first: a file for another version may have settings that are unknown to this one.
    required = table.get("required-version")
    if isinstance(required, str):
        _check_version(path, required)
    return parse_options(table, path)


def _check_version(path: Path, required: str) -> None:
    """Raise ConfigError unless devlint's version meets `required`, the `required-version` of the file at `path`."""
    try:
        met = version_satisfies(__version__, required)
    except ValueError as problem:
        raise ConfigError(path, "required-version", str(problem)) from None
    if not met:
        raise ConfigError(path, "required-version", f"{required} is required, and this is devlint {__version__}")


def _table(path: Path) -> Mapping[str, object] | None:
    """Return the TOML table with devlint's settings in a configuration file.

    Returns None for a `pyproject.toml` without a table `[tool.devlint]`. Raises ConfigError if the file is not valid
    TOML, and for another file with such a table, which belongs into a `pyproject.toml`.
    """
    shared = path.name == "pyproject.toml"
    content = _content(path)
    # A `pyproject.toml` that never mentions devlint cannot configure it, and is not parsed: it may even be invalid.
    if shared and b"devlint" not in content:
        return None
    try:
        table: Any = tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise ConfigError(path, "", "not valid UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        end = f"at end of document, line {len(content.splitlines())}"
        raise ConfigError(path, "", f"not valid TOML: {problem}".replace("at end of document", end)) from None
    if shared:
        table = table.get("tool", {})
        table = table.get("devlint") if isinstance(table, dict) else table
    elif isinstance(table.get("tool"), dict) and "devlint" in table["tool"]:
        advice = "leave out the header [tool.devlint]: here, the settings stand at the top level"
        raise ConfigError(path, "", advice, row_of_setting(path, "tool.devlint"))
    if table is not None and not isinstance(table, dict):
        raise ConfigError(path, "tool.devlint", "expected a table")
    return table


def _content(path: Path) -> bytes:
    """Return the bytes of a configuration file. Raises ConfigError if the file cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ConfigError(path, "", problem.strerror or str(problem)) from None
