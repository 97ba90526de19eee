"""The recorder: operators, transfers, waits, promotions and errors, counted by line of the user's code."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import FrameType

from devlint.runtime.call_sites import Site, site_of
from devlint.runtime.storage_labels import HistoryStep

TIMELINE_LIMIT = 20_000
"""The number of events kept for the timeline; counts by line have no limit."""


@dataclass(slots=True)
class TransferTally:
    """The number of transfers or waits of one kind at one line, with their bytes and seconds."""

    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TransferKind:
    """The properties by which transfers at one line are counted separately."""

    source: str
    target: str
    blocking: bool
    pinned: bool
    how: str

    @property
    def to_host(self) -> bool:
        """Return whether the transfer ends on the host."""
        return self.target == "cpu"


@dataclass(slots=True)
class LineRecord:
    """What one line of the user's code did.

    `device_operators` counts the operators that ran on an accelerator, and `sync_warnings` how often CUDA itself said
    that the host waits.
    """

    site: Site
    operators: dict[str, int] = field(default_factory=dict)
    transfers: dict[TransferKind, TransferTally] = field(default_factory=dict)
    waits: dict[str, TransferTally] = field(default_factory=dict)
    factories: dict[str, int] = field(default_factory=dict)
    promotions: int = 0
    device_operators: int = 0
    sync_warnings: int = 0

    @property
    def used_device(self) -> bool:
        """Return whether the line used an accelerator."""
        return self.device_operators > 0 or any(kind.source != "cpu" or kind.target != "cpu" for kind in self.transfers)


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One point of the timeline.

    `start` is in seconds since the recording began.
    """

    start: float
    kind: str
    what: str
    nbytes: int
    site: Site | None


@dataclass(frozen=True, slots=True)
class Observation:
    """Something wrong or wasteful that happened: a rule code, a place, and the history of the operands.

    `through` holds the places in the user's code that led there, innermost first; `raised` is the type of the
    exception, if there was one.
    """

    code: str
    message: str
    site: Site | None
    steps: tuple[HistoryStep, ...] = ()
    raised: str | None = None
    through: tuple[Site, ...] = ()


class Recorder:
    """Collects what a program does while it runs; all threads share one recorder."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], LineRecord] = {}
        self.timeline: list[TimelineEvent] = []
        self.observations: dict[tuple[str, Site | None], list[Observation]] = {}
        self.notes: dict[str, int] = {}
        self.operators = 0
        self.interrupted: set[tuple[str, int]] = set()
        self.started = time.perf_counter()
        self.ended: float | None = None
        self.lock = threading.Lock()

    def line_record(self, frame: FrameType | None) -> LineRecord | None:
        """Return the record of the line that a frame is at, made on first use."""
        if frame is None:
            return None
        key = (frame.f_code.co_filename, frame.f_lineno)
        record = self.lines.get(key)
        if record is None:
            site = site_of(frame)
            if site is None:
                return None
            record = self.lines.setdefault(key, LineRecord(site))
        return record

    def record_operator(self, name: str, frame: FrameType | None, *, on_device: bool) -> None:
        """Count an operator that ran."""
        self.operators += 1
        record = self.line_record(frame)
        if record is not None:
            names = record.operators
            names[name] = names.get(name, 0) + 1
            record.device_operators += on_device

    def record_transfer(self, kind: TransferKind, nbytes: int, seconds: float, frame: FrameType | None) -> None:
        """Count a copy of bytes between devices."""
        record = self.line_record(frame)
        if record is not None:
            tally = record.transfers.setdefault(kind, TransferTally())
            tally.count += 1
            tally.nbytes += nbytes
            tally.seconds += seconds
        self._add_timeline_event("transfer", f"{kind.source} → {kind.target}", nbytes, frame)

    def record_redundant_transfer(self, kind: TransferKind, frame: FrameType | None) -> None:
        """Count a transfer that had nothing to do because the tensor was already on the device."""
        record = self.line_record(frame)
        if record is not None:
            record.transfers.setdefault(kind, TransferTally()).count += 1

    def record_wait(self, what: str, frame: FrameType | None, seconds: float = 0.0) -> None:
        """Count a wait of the host for the accelerator."""
        record = self.line_record(frame)
        if record is not None:
            tally = record.waits.setdefault(what, TransferTally())
            tally.count += 1
            tally.seconds += seconds
        self._add_timeline_event("wait", what, 0, frame)

    def record_factory(self, name: str, frame: FrameType | None) -> None:
        """Count a tensor that a factory function created."""
        record = self.line_record(frame)
        if record is not None:
            record.factories[name] = record.factories.get(name, 0) + 1

    def record_sync_warning(self, frame: FrameType | None) -> None:
        """Count a warning of CUDA that the host waits."""
        record = self.line_record(frame)
        if record is not None:
            record.sync_warnings += 1

    def record_promotion(self, frame: FrameType | None) -> None:
        """Count an operator on the accelerator that made float64 out of narrower operands."""
        record = self.line_record(frame)
        if record is not None:
            record.promotions += 1

    def record_observation(self, observation: Observation) -> None:
        """Keep an observation; those of the same code and place are grouped."""
        self.observations.setdefault((observation.code, observation.site), []).append(observation)
        self._add_timeline_event("finding", observation.code, 0, None, observation.site)

    def mark_interrupted(self, sites: Iterable[Site]) -> None:
        """Mark the lines that an error passed through, whose remaining expressions may not have run."""
        self.interrupted.update((site.filename, row) for site in sites for row in range(site.line, site.last_line + 1))

    def add_note(self, text: str) -> None:
        """Add a note about something that the recorder could not see."""
        self.notes[text] = self.notes.get(text, 0) + 1

    def finish(self) -> None:
        """End the recording."""
        if self.ended is None:
            self.ended = time.perf_counter()

    def _add_timeline_event(
        self, kind: str, what: str, nbytes: int, frame: FrameType | None, site: Site | None = None
    ) -> None:
        """Add an event to the timeline unless the timeline is full."""
        if len(self.timeline) < TIMELINE_LIMIT:
            now = time.perf_counter() - self.started
            self.timeline.append(TimelineEvent(now, kind, what, nbytes, site or site_of(frame)))
