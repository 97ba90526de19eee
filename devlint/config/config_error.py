"""The error for an unusable configuration of devlint, and the message for an unknown name in one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ConfigError(Exception):
    """An error in devlint's configuration: the file (None for the command line), the setting's key, and the problem."""

    def __init__(self, path: Path | None, key: str, problem: str) -> None:
        place = f"--{key}" if path is None else f"{path}: `{key}`" if key else f"{path}"
        super().__init__(f"{place}: {problem}")


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message such as "unknown setting `selct` (did you mean `select`?)".

    ``kind`` is the word after "unknown". The suggestion is the closest of the known names, left out if none is close.
    """
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"unknown {kind} `{name}`" + (f" (did you mean `{close[0]}`?)" if close else "")
