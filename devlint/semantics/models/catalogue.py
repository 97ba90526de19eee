"""Look up names in all model files together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from devlint.semantics.models.model_files import ModelFile

Cells: TypeAlias = Mapping[str, Any]


class ModelCatalogue:
    """The rows of several model files; of two files that describe a name, the earlier one takes precedence."""

    def __init__(self, files: Sequence[ModelFile]) -> None:
        self._aliases: dict[str, str] = {}
        self._exact: dict[str, Cells] = {}
        self._patterns: dict[str, list[tuple[re.Pattern[str], Cells]]] = {}
        self._conventions: dict[str, Cells] = {}
        for file in reversed(files):
            self._aliases |= file.aliases
            self._exact |= {name: cells for name, cells in file.rows.items() if "*" not in name}
            self._conventions |= file.conventions
        for file in files:
            for pattern, cells in file.rows.items():
                if "*" in pattern:
                    self._patterns.setdefault(_root(pattern), []).append((_compiled(pattern), cells))
        self._roots = {*map(_root, (*self._aliases, *self._exact)), *self._patterns}

    def canonical(self, name: str) -> str:
        """Return the name under which the files describe ``name``; an alias may replace a prefix of a name."""
        if not self._aliases or _root(name) not in self._roots:
            return name
        for prefix in _prefixes(name):
            if prefix in self._aliases:
                return self._aliases[prefix] + name.removeprefix(prefix)
        return name

    def describe(self, name: str) -> bool:
        """Return whether the files describe the library of a name."""
        return _root(name) in self._roots

    def cells(self, name: str) -> Cells | None:
        """Return the cells of a canonical name as a file spells them, None if no file describes it.

        A row of exactly this name is used first, then the first row with a pattern that matches.
        """
        root = _root(name)
        if root not in self._roots:
            return None
        found = self._exact.get(name)
        if found is None:
            found = next((cells for fits, cells in self._patterns.get(root, ()) if fits.fullmatch(name)), None)
        return None if found is None else {**found, "assumed": True}

    def conventions(self) -> Iterator[tuple[str, Cells]]:
        """Yield the conventions: a condition on arguments, and the cells of any unknown call that meets it."""
        return ((condition, {**cells, "assumed": True}) for condition, cells in self._conventions.items())


def _root(name: str) -> str:
    """Return the first part of a dotted name, which is the library."""
    return name.partition(".")[0]


def _prefixes(name: str) -> Iterator[str]:
    """Yield a dotted name and its dotted prefixes, the longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a name pattern as a regular expression.

    `*` matches any part between two dots, `**` matches dots as well.
    """
    parts = re.split(r"(\*+)", pattern)
    return re.compile("".join({"*": r"\w*", "**": ".*"}.get(part) or re.escape(part) for part in parts))
