"""The files of a program in which no tensor can occur, told by their texts alone, before any file is parsed.

A tensor comes from a library, or from a caller. A file that neither mentions such a library, nor imports a file that
does, nor treats what it is given as a tensor, can get none: its functions see tensors only where other files call them,
and are followed there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from devlint.domain.torch_names import TRANSFER_METHODS
from devlint.interpreter.program.program import Program

_NAMES: Final = {*TRANSFER_METHODS, "detach", "numpy", "pin_memory"} - {"type"}
_TENSOR_METHODS: Final = (*(f".{name}(" for name in sorted(_NAMES)), ".new_")
"""Calls of methods that move, cast or make tensors: who calls one may have been given a tensor."""
_CAST_TO_TYPE: Final = re.compile(r"\.type\(\s*[\w.'\"]+\s*\)")
"""A cast such as `x.type(dtype)`; many other objects have a type that is called with more."""


def uses_as_tensor(text: str) -> bool:
    """Return whether a text calls a method that moves, casts or makes tensors."""
    return any(call in text for call in _TENSOR_METHODS) or (
        ".type(" in text and _CAST_TO_TYPE.search(text) is not None
    )


class TensorLibraries:
    """The libraries that make and move tensors: torch, what is built upon it, and `others`."""

    def __init__(self, others: Iterable[str]) -> None:
        names = sorted(others)
        self._parts = ("torch", "cuda", "reveal_placement", "Tensor", *names)
        whole = "|".join(map(re.escape, ["cuda", "reveal_placement", *names]))
        self._pattern = re.compile(rf"\b(?:py)?torch|Tensor\b|\b(?:{whole})\b")

    def are_mentioned(self, text: str) -> bool:
        """Return whether a text mentions one of these libraries, an accelerator, or a type of tensors."""
        return any(part in text for part in self._parts) and self._pattern.search(text) is not None


def files_without_tensors(program: Program, libraries: TensorLibraries) -> Iterator[Path]:
    """Yield the files to analyse in which no tensor can occur; `libraries` are those that make tensors."""
    given = program.given_paths
    importers: dict[Path, list[Path]] = defaultdict(list)
    mentioning: list[Path] = []
    used: set[Path] = set()
    known = set(given)
    pending = list(given)
    while pending:
        path = pending.pop()
        source = program.source(path)
        if source is None:
            continue
        if libraries.are_mentioned(source.text):
            mentioning.append(path)
            continue
        if uses_as_tensor(source.text):
            used.add(path)
        for one in program.imports_at_most(path):
            importers[one].append(path)
            if one not in known:
                known.add(one)
                pending.append(one)
    used |= _reached(mentioning, importers)
    return (path for path in given if path not in used)


def _reached(start: Iterable[Path], neighbours: dict[Path, list[Path]]) -> set[Path]:
    """Return some files, and those that are reached from them by steps of a graph."""
    reached = set(start)
    pending = list(reached)
    while pending:
        for path in neighbours.get(pending.pop(), ()):
            if path not in reached:
                reached.add(path)
                pending.append(path)
    return reached
