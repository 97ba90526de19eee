"""Private definitions, which only their own file uses, and the order in which a file's definitions are analysed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from devlint.syntax.index import Statement


def is_private_name(name: str) -> bool:
    """Return whether a name is private to its file or class: a leading underscore, but no `__dunder__` name."""
    return name.startswith("_") and not name.endswith("__")


def is_test_file(path: Path) -> bool:
    """Return whether pytest collects the tests of a file, so that no other file calls the functions in it."""
    return path.stem.startswith("test_") or path.stem.endswith("_test")


def callers_first(units: Sequence[Statement]) -> list[Statement]:
    """Return the definitions of a file in the order of analysis: a definition comes after those that mention it.

    Public definitions come before private ones, and otherwise in the order of the file.
    """
    public: dict[str, Statement] = {}
    private: dict[str, Statement] = {}
    for unit in units:
        if unit.name is not None:
            (private if is_private_name(unit.name) else public)[unit.name] = unit
    return [*_in_order(public), *_in_order(private)]


def _in_order(definitions: Mapping[str, Statement]) -> Iterator[Statement]:
    """Yield definitions in the order of the file, but each after those of them that mention it."""
    met: set[Statement] = set()
    callees_first: list[Statement] = []
    for root in reversed([*definitions.values()]):
        pending = [] if root in met else [(root, _mentioned(root, definitions))]
        while pending:
            unit, others = pending[-1]
            met.add(unit)
            below = next((other for other in others if other not in met), None)
            if below is not None:
                pending.append((below, _mentioned(below, definitions)))
            else:
                callees_first.append(unit)
                pending.pop()
    return reversed(callees_first)


def _mentioned(unit: Statement, definitions: Mapping[str, Statement]) -> Iterator[Statement]:
    """Return an iterator over those of a file's definitions that a given top-level statement mentions."""
    return iter([definitions[name] for name in sorted(unit.mentions & definitions.keys(), reverse=True)])
