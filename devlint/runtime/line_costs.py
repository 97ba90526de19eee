"""What each line of a recorded program cost: the transfers and waits of the line, with their bytes and seconds."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from dataclasses import dataclass

from devlint.runtime.recorder import LineRecord


@dataclass(frozen=True, slots=True)
class LineCost:
    """The transfers and waits of one source line of the user's code, with their bytes and seconds.

    A blocking copy to the host counts as a transfer and as a wait.
    """

    filename: str
    line: int
    source: str
    transfers: int
    nbytes: int
    waits: int
    seconds: float
    kinds: str


def line_costs(records: Iterable[LineRecord]) -> list[LineCost]:
    """Return the source lines that moved tensors or waited for the accelerator, most expensive line first."""
    return sorted(
        (cost for cost in map(_cost_of_line, records) if cost.transfers or cost.waits),
        key=lambda cost: (-cost.seconds, -cost.nbytes, -cost.transfers - cost.waits, cost.filename, cost.line),
    )


def by_transfers(costs: Iterable[LineCost]) -> list[LineCost]:
    """Return the lines that moved tensors, those with the most bytes first."""
    moved = (cost for cost in costs if cost.transfers)
    return sorted(moved, key=lambda cost: (-cost.nbytes, -cost.transfers, cost.filename, cost.line))


def by_waits(costs: Iterable[LineCost]) -> list[LineCost]:
    """Return the lines at which the host waited, those with the most waits first."""
    waited = (cost for cost in costs if cost.waits)
    return sorted(waited, key=lambda cost: (-cost.waits, -cost.seconds, cost.filename, cost.line))


def _cost_of_line(record: LineRecord) -> LineCost:
    """Return the sums of transfers and waits that a recorder counted for one source line."""
    moves = {kind: tally for kind, tally in record.transfers.items() if kind.source != kind.target}
    tallies = [*moves.values(), *record.waits.values()]
    kinds = [f"{kind.source} → {kind.target}" for kind in moves] + list(record.waits)
    return LineCost(
        record.site.filename,
        record.site.line,
        linecache.getline(record.site.filename, record.site.line).strip(),
        sum(tally.count for tally in moves.values()),
        sum(tally.nbytes for tally in moves.values()),
        record.waited,
        sum(tally.seconds for tally in tallies),
        ", ".join(dict.fromkeys(kinds)),
    )
