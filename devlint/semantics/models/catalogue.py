"""Look-up of library names in several model files, which describe the functions of libraries other than torch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from devlint.semantics.models.model_files import ModelFile

Cells: TypeAlias = Mapping[str, Any]


class ModelCatalogue:
    """The semantics-table rows of several model files, which describe the functions of libraries other than torch.

    If two files describe the same name, the earlier file takes precedence.
    """

    def __init__(self, files: Sequence[ModelFile]) -> None:
        self._aliases: dict[str, str] = {}
        self._exact: dict[str, Cells] = {}
        self._patterns: dict[str, list[tuple[re.Pattern[str], Cells]]] = {}
        self._conventions: dict[str, Cells] = {}
        self.sets_default_device: frozenset[str] = frozenset().union(*(file.sets_default_device for file in files))
        """The packages that set torch's default device when they are imported."""
        self.sets_start_method: frozenset[str] = frozenset().union(*(file.sets_start_method for file in files))
        """The packages that choose how processes are started when they are imported."""
        for file in reversed(files):
            self._aliases |= file.aliases
            self._exact |= {name: cells for name, cells in file.rows.items() if "*" not in name}
            self._conventions |= file.conventions
        for file in files:
            for pattern, cells in file.rows.items():
                if "*" in pattern:
                    self._patterns.setdefault(_root(pattern), []).append((_compiled(pattern), cells))
        self._roots = {*map(_root, (*self._aliases, *self._exact)), *self._patterns}

    @property
    def libraries(self) -> frozenset[str]:
        """The names of the libraries that the model files describe."""
        return frozenset(self._roots)

    def canonical(self, name: str) -> str:
        """Return the name under which the model files describe ``name``, or ``name`` itself if no alias applies.

        An alias in a model file stands for a whole dotted name or for the beginning of one.
        """
        if not self._aliases or _root(name) not in self._roots:
            return name
        for prefix in _prefixes(name):
            if prefix in self._aliases:
                return self._aliases[prefix] + name.removeprefix(prefix)
        return name

    def describe(self, name: str) -> bool:
        """Return whether the model files describe the library to which a dotted name belongs."""
        return _root(name) in self._roots

    def cells(self, name: str) -> Cells | None:
        """Return the cells of the row that describes a canonical name, as a model file spells them, None if none does.

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
        """Yield the conventions of the model files, which apply to calls of functions that no row describes.

        Each is a condition on the call's arguments, with the row cells that hold for a call that meets it.
        """
        return ((condition, {**cells, "assumed": True}) for condition, cells in self._conventions.items())


def _root(name: str) -> str:
    """Return the first part of a dotted name, which is the name of the library."""
    return name.partition(".")[0]


def _prefixes(name: str) -> Iterator[str]:
    """Yield a dotted name such as `a.b.c`, then its dotted prefixes `a.b` and `a`, the longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of dotted names as a regular expression.

    `*` matches any part between two dots, `**` matches dots as well.
    """
    parts = re.split(r"(\*+)", pattern)
    return re.compile("".join({"*": r"\w*", "**": ".*"}.get(part) or re.escape(part) for part in parts))
