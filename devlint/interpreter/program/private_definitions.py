"""Private definitions: names with a leading underscore, and the order in which a file's definitions are analysed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from devlint.syntax.index import Statement


def is_private_name(name: str) -> bool:
    """Return whether a name is private to its file or class: a leading underscore, but no `__dunder__` name."""
    return name.startswith("_") and not name.endswith("__")


def callers_first(units: Sequence[Statement]) -> list[Statement]:
    """Return the definitions of a file in the order of analysis.

    Public definitions come first; a private definition comes after the private definitions that mention it.
    """
    private = {unit.name: unit for unit in units if unit.name is not None and is_private_name(unit.name)}
    met: set[Statement] = set()
    callees_first: list[Statement] = []
    for root in reversed(private.values()):
        pending = [] if root in met else [(root, _mentioned(root, private))]
        while pending:
            unit, others = pending[-1]
            met.add(unit)
            below = next((other for other in others if other not in met), None)
            if below is not None:
                pending.append((below, _mentioned(below, private)))
            else:
                callees_first.append(unit)
                pending.pop()
    return [unit for unit in units if unit.name not in private] + callees_first[::-1]


def _mentioned(unit: Statement, private: Mapping[str, Statement]) -> Iterator[Statement]:
    """Return an iterator over a file's private definitions that a given top-level statement mentions."""
    return iter([private[name] for name in sorted(unit.mentions & private.keys(), reverse=True)])
