"""The error for an unusable configuration of devlint, and the message for an unknown name in one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_HEADER: Final = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
"""The line of TOML with which a table begins."""
_KEY: Final = re.compile(r"""\s*["']?([\w-]+)["']?\s*[.=]""")
"""The beginning of a line of TOML that gives a key a value."""


class ConfigError(Exception):
    """An error in devlint's configuration: the file (None for the command line), the setting's key, and the problem.

    `row` is the line of the file; 0 if it is not known.
    """

    def __init__(self, path: Path | None, key: str, problem: str, row: int = 0) -> None:
        self.path, self.key, self.problem = path, key, problem
        row = row or (row_of_setting(path, key) if path is not None and key else 0)
        file = f"{path}:{row}" if row else f"{path}"
        place = f"--{key}" if path is None else f"{file}: `{key}`" if key else file
        super().__init__(f"{place}: {problem}")


def row_of_setting(path: Path, key: str) -> int:
    """Return the row at which a configuration file gives a setting; 0 if it is not found there, or several times."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    prefix = "tool.devlint" if path.name == "pyproject.toml" else ""
    table, rows = "", []
    for row, line in enumerate(lines, 1):
        header = _HEADER.match(line)
        if header is not None:
            table = header[1].strip()
            found = table == f"{prefix}.{key}".lstrip(".")
        else:
            written = _KEY.match(line)
            found = table == prefix and written is not None and written[1] == key
        if found:
            rows.append(row)
    return rows[0] if len(rows) == 1 else 0


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message such as "unknown setting `selct` (did you mean `select`?)".

    ``kind`` is the word after "unknown". The suggestion is the closest of the known names, left out if none is close.
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"unknown {kind} `{name}`" + (f" (did you mean `{close[0]}`?)" if close else "")
