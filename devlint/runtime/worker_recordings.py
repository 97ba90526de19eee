"""Recordings that processes hand to one another: a pytest-xdist worker packs its own, and the controller joins them."""

from __future__ import annotations

import pickle
from typing import Any

from devlint.runtime.recorder import LineRecord, Recorder, TransferTally


def pack_recording(recorder: Recorder) -> bytes:
    """Return what a recorder collected as bytes, for a process that trusts this one."""
    seen = (recorder.lines, recorder.expressions, recorder.mixed_operands, recorder.observations)
    operators = (recorder.operators, recorder.used_device)
    return pickle.dumps((*seen, recorder.notes, operators, recorder.interrupted, recorder.steps.seen()))


def add_recording(recorder: Recorder, packed: bytes) -> None:
    """Add the recording of another process to a recorder. The timeline is left out: each process has its own clock."""
    lines, expressions, mixed_operands, observations, notes, operators, interrupted, steps = pickle.loads(packed)
    for key, record in lines.items():
        _add_line(recorder.lines.setdefault(key, LineRecord(record.site)), record)
    for site, record in expressions.items():
        _add_line(recorder.expressions.setdefault(site, LineRecord(site)), record)
    recorder.mixed_operands |= mixed_operands
    for key, group in observations.items():
        recorder.observations.setdefault(key, []).extend(group)
    _add_counts(recorder.notes, notes)
    number, used_device = operators
    recorder.operators += number
    recorder.used_device |= used_device
    recorder.interrupted |= interrupted
    recorder.steps.add_seen(*steps)


def _add_line(here: LineRecord, other: LineRecord) -> None:
    """Add the counts of one line in another process to the record of that line."""
    _add_counts(here.operators, other.operators)
    _add_counts(here.factories, other.factories)
    _add_tallies(here.transfers, other.transfers)
    _add_tallies(here.waits, other.waits)
    here.promotions += other.promotions
    here.device_operators += other.device_operators
    here.sync_warnings += other.sync_warnings
    here.steps_with_waits += other.steps_with_waits


def _add_counts(here: dict[str, int], other: dict[str, int]) -> None:
    """Add numbers by name to others."""
    for name, count in other.items():
        here[name] = here.get(name, 0) + count


def _add_tallies(here: dict[Any, TransferTally], other: dict[Any, TransferTally]) -> None:
    """Add tallies by kind to others."""
    for kind, tally in other.items():
        sums = here.setdefault(kind, TransferTally())
        sums.count += tally.count
        sums.nbytes += tally.nbytes
        sums.seconds += tally.seconds
