"""The releases of torch that a project supports, as the files say that name its dependencies."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from devlint.semantics.accelerators import Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REQUIREMENT: Final = re.compile(r"\s*torch\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;)@]*)")
"""A requirement of torch, such as `torch>=2.6,<3; python_version > "3.9"`."""
_LOWEST: Final = re.compile(r"(?:^|,)\s*(?:>=|~=|===?|\^|~)\s*v?(\d+(?:\.\d+)*)")
"""A clause that says which version is the oldest one."""

_PINNED_IN: Final = ("requirements*.txt", "environment*.y*ml", "pyproject.toml", "setup.py", "setup.cfg")
"""The files of a project that may name the torch it runs on."""
_PIN: Final = re.compile(
    r"""(?:^[\s-]*|["'])(?:[\w-]+::)?(?:torch|pytorch)["']?\s*(?:\[[^\]]*\]\s*)?(?:=\s*["'])?\(?(?P<versions>[<>=~!^\d][^;#@)"'\n]*)""",
    re.MULTILINE,
)
"""A requirement of torch with a version: in a line of `requirements.txt` or of a conda environment, or in quotes."""
_SAID: Final = re.compile(
    r"(?<!least )\b(?:py)?torch\b(?:\]\([^)]*\))?[\s:*`|(v=]{1,8}(?:version\s+)?(\d+\.\d+(?:\.\d+)?)"
    r"(?![\d.]*\s*(?:\+|[-~/&]\s*v?\d|\(?(?:or|and|should)\s+(?:later|above|higher|newer|up|greater|work)|or\s+>|>))",
    re.IGNORECASE,
)
"""A version of torch in the text of a README, as in `PyTorch 0.4.1`; not `PyTorch 1.0+` or `PyTorch >= 1.0`."""
_CLAUSE: Final = re.compile(r"([<>=~!^]*)\s*v?(\d+(?:\.\d+)*)(\.\*)?[^,]*(?:,\s*|$)")
"""A clause of a requirement: its operator, which conda and poetry may leave out, its version, and `.*` after it."""


@lru_cache(maxsize=256)
def end_of_project_torch(directory: Path) -> Version | None:
    """Return the first release of torch that is too new for the project of a directory; None where no file tells.

    It has two numbers, as `1.7` has. The nearest folder counts of which a file names torch with a version; a README
    counts where no other file of its folder does.
    """
    for folder in (directory, *directory.parents):
        pinned = [
            clauses
            for pattern in _PINNED_IN
            for file in sorted(folder.glob(pattern))
            for clauses in _PIN.findall(_text_of(file))
        ] or [said for file in sorted(folder.glob("README*")) for said in _SAID.findall(_text_of(file))]
        if pinned:
            ends = [end for clauses in pinned if (end := _end(clauses)) is not None]
            return max(ends) if len(ends) == len(pinned) else None
        if (folder / ".git").exists():
            return None
    return None


def _end(clauses: str) -> Version | None:
    """Return the first release that some clauses, such as `>=1.4,<2`, rule out at the top; None where there is none."""
    ends = []
    for operator, number, wild in _CLAUSE.findall(clauses):
        if operator in (">", ">=", "!="):
            continue
        parts = [*map(int, number.split("."))]
        if operator == "<":
            ends.append(tuple([*parts, 0][:2]))
        elif operator == "^" or ((operator == "~=" or wild) and len(parts) + bool(wild) == 2):
            ends.append((parts[0] + 1, 0))
        else:
            ends.append((parts[0], [*parts, 0][1] + 1))
    return min(ends, default=None)


def _text_of(file: Path) -> str:
    """Return the text of a file; nothing where it cannot be read."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


@lru_cache(maxsize=256)
def oldest_torch_of_project(directory: Path) -> Version | None:
    """Return the oldest torch that the project of a directory supports; None where its files do not tell.

    The nearest `pyproject.toml` counts. Where its dependencies do not name torch, its optional ones are asked.
    """
    found = next((file for one in (directory, *directory.parents) if (file := one / "pyproject.toml").is_file()), None)
    if found is None:
        return None
    try:
        content: Any = tomllib.loads(found.read_bytes().decode())
    except (OSError, ValueError):
        return None
    for group in (_required(content), _optional(content)):
        versions = [version for one in group if (version := _lowest_torch(one)) is not None]
        if versions:
            return min(versions)
    return None


def _required(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the requirements that a project always has."""
    yield from _texts(_at(content, "project", "dependencies"))
    poetry = _at(content, "tool", "poetry", "dependencies", "torch")
    version = poetry.get("version") if isinstance(poetry, dict) else poetry
    if isinstance(version, str):
        yield f"torch {version if version[:1] in '<>=!~^' else '==' + version}"


def _optional(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the requirements of a project's extras."""
    extras = _at(content, "project", "optional-dependencies")
    for one in extras.values() if isinstance(extras, dict) else ():
        yield from _texts(one)


def _lowest_torch(requirement: str) -> Version | None:
    """Return the oldest version that a requirement of torch admits; None if it has no such bound, or is of another."""
    found = _REQUIREMENT.match(requirement)
    if found is None:
        return None
    versions = [tuple(map(int, one.split("."))) for one in _LOWEST.findall(found["versions"])]
    return max(versions, default=None)


def _texts(value: object) -> Iterator[str]:
    """Yield the strings in a list; nothing for another value."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, str))


def _at(content: Any, *keys: str) -> Any:
    """Return the value in nested tables under some keys, None if there is none."""
    for key in keys:
        content = content.get(key) if isinstance(content, dict) else None
    return content
