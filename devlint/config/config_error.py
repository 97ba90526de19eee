"""What may be wrong with a configuration, said with the file and the key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class ConfigError(Exception):
    """A configuration that cannot be used: the file (None: the command line), the key, and why."""

    def __init__(self, path: Path | None, key: str, problem: str) -> None:
        place = f"--{key}" if path is None else f"{path}: `{key}`" if key else f"{path}"
        super().__init__(f"{place}: {problem}")


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """`unknown KIND NAME`, with the likeliest meant."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"unknown {kind} `{name}`" + (f" (did you mean `{close[0]}`?)" if close else "")
