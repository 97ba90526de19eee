"""Collection of what a program does with devices while it runs, counted by line of the user's code.

That is operators, transfers, waits of the host, promotions to float64, and observed problems.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType, FrameType

from devlint.runtime.call_sites import Site, site_at, site_of
from devlint.runtime.storage_labels import HistoryStep
from devlint.runtime.training_steps import TrainingSteps
from devlint.runtime.wait_origins import asked_by_program

TIMELINE_LIMIT = 20_000
"""The number of events kept for the timeline; counts by line have no limit."""


@dataclass(slots=True)
class TransferTally:
    """The number of transfers or waits of one kind at one line of code, with the sums of their bytes and seconds."""

    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TransferKind:
    """The kind of a transfer: devices, method, whether it blocks the host, and whether pinned memory is involved.

    The transfers at one line of code are counted by kind.
    """

    source: str
    target: str
    blocking: bool
    pinned: bool
    how: str

    @property
    def to_host(self) -> bool:
        """Return whether transfers of this kind end on the host."""
        return self.target == "cpu"

    @property
    def on_device(self) -> bool:
        """Return whether transfers of this kind begin or end on an accelerator."""
        return self.source != "cpu" or self.target != "cpu"

    @property
    def waits(self) -> bool:
        """Return whether the host waits for transfers of this kind, because it has their result at once."""
        return self.to_host and self.source != "cpu" and self.blocking


@dataclass(slots=True)
class LineRecord:
    """Counts of what one line of the user's code did with devices while the program ran.

    `device_operators` counts the operators that ran on an accelerator or made a tensor there, and `sync_warnings` how
    often CUDA itself said that the host waits. `steps_with_waits` counts the training steps in which the program itself
    asked for a wait here.
    """

    site: Site
    operators: dict[str, int] = field(default_factory=dict)
    transfers: dict[TransferKind, TransferTally] = field(default_factory=dict)
    waits: dict[str, TransferTally] = field(default_factory=dict)
    factories: dict[str, int] = field(default_factory=dict)
    promotions: int = 0
    device_operators: int = 0
    sync_warnings: int = 0
    steps_with_waits: int = 0
    last_step_with_wait: int = -1

    @property
    def waited(self) -> int:
        """Return how often the host waited at this line, for values or for a blocking copy to the host."""
        return sum(tally.count for tally in self.waits.values()) + sum(
            tally.count for kind, tally in self.transfers.items() if kind.waits
        )

    @property
    def used_device(self) -> bool:
        """Return whether the line ran an operator on an accelerator or a transfer from or to one."""
        return self.device_operators > 0 or any(kind.on_device for kind in self.transfers)


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event in the timeline of a recorded program: a transfer, a wait or an observed problem.

    `start` is in seconds since the recording began, and `operators` the number of operators that had run before.
    """

    start: float
    operators: int
    kind: str
    what: str
    nbytes: int
    site: Site | None


@dataclass(frozen=True, slots=True)
class Observation:
    """A problem that happened while a program ran: rule code, message, source location and the operands' history.

    `steps` tells how the operands came to their devices. `through` holds the source locations in the user's code
    through which the program came to the problem, innermost first. `raised` is the name of the exception's type, or
    None if nothing was raised. `after_going_on` tells that an operand comes from an operator that had failed before, so
    that the problem may be a consequence.
    """

    code: str
    message: str
    site: Site | None
    steps: tuple[HistoryStep, ...] = ()
    raised: str | None = None
    through: tuple[Site, ...] = ()
    after_going_on: bool = False


@dataclass(slots=True)
class _Instruction:
    """A bytecode instruction of the user's code that called operators: its code object, and the record of its line."""

    code: CodeType
    line: LineRecord
    on_device: bool = False


class Recorder:
    """Collection of what a program does with devices while it runs, by line of its code; shared by all threads.

    `used_device` tells whether anything was ever on an accelerator, also where no line of the user's code is known.
    """

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], LineRecord] = {}
        self.expressions: dict[Site, LineRecord] = {}
        self.mixed_operands: set[Site] = set()
        # By code object, which is kept alive, and instruction offset: Python counts a line number out each time.
        self._by_instruction: dict[tuple[int, int], _Instruction] = {}
        self.timeline: list[TimelineEvent] = []
        self.observations: dict[tuple[str, Site | None], list[Observation]] = {}
        self.notes: dict[str, int] = {}
        self.operators = 0
        self.used_device = False
        self.steps = TrainingSteps()
        self.interrupted: set[tuple[str, int]] = set()
        self.started = time.perf_counter()
        self.ended: float | None = None
        self.lock = threading.Lock()

    def line_record(self, frame: FrameType | None) -> LineRecord | None:
        """Return the record of the line that a frame is at, made on first use; None if the frame is None."""
        if frame is None:
            return None
        code = frame.f_code
        instruction = (id(code), frame.f_lasti)
        known = self._by_instruction.get(instruction)
        if known is not None:
            return known.line
        record = self._find_line_record(frame)
        if record is not None:
            self._by_instruction[instruction] = _Instruction(code, record)
        return record

    def _find_line_record(self, frame: FrameType) -> LineRecord | None:
        """Return the record of the line that a frame is at, made on first use; None if the line is not known."""
        key = (frame.f_code.co_filename, frame.f_lineno)
        record = self.lines.get(key)
        if record is None:
            site = site_of(frame)
            if site is None:
                return None
            record = self.lines.setdefault(key, LineRecord(site))
        return record

    def _tally(self, frame: FrameType | None, kind: TransferKind | str, nbytes: int = 0, seconds: float = 0.0) -> None:
        """Count a transfer of some kind, or a wait for some reason, for the expression that a frame is evaluating.

        Several expressions may stand on one line, and a finding is about one of them.
        """
        site = site_of(frame)
        if site is None:
            return
        record = self.expressions.setdefault(site, LineRecord(site))
        if isinstance(kind, str):
            tally = record.waits.setdefault(kind, TransferTally())
        else:
            tally = record.transfers.setdefault(kind, TransferTally())
        tally.count += 1
        tally.nbytes += nbytes
        tally.seconds += seconds

    def record_mixed_operands(self, frame: FrameType | None) -> None:
        """Note that the expression which a frame is evaluating took operands on different devices without an error."""
        site = site_of(frame)
        if site is not None:
            self.mixed_operands.add(site)

    def record_operator(self, name: str, frame: FrameType | None, on_device: bool) -> None:
        """Count, for the line that a frame is at, a torch operator that ran."""
        self.operators += 1
        if on_device:
            self.used_device = True
        if frame is None:
            return
        instruction = (id(frame.f_code), frame.f_lasti)
        try:
            known = self._by_instruction[instruction]
        except KeyError:
            if self.line_record(frame) is None:
                return
            known = self._by_instruction[instruction]
        record = known.line
        try:
            record.operators[name] += 1
        except KeyError:
            record.operators[name] = 1
        if on_device:
            record.device_operators += 1
            known.on_device = True

    @property
    def device_sites(self) -> set[Site]:
        """Return the expressions of the user's code that ran an operator on an accelerator."""
        return {
            site_at(known.code, offset, known.line.site.line)
            for (_, offset), known in list(self._by_instruction.items())
            if known.on_device
        }

    def record_transfer(self, kind: TransferKind, nbytes: int, seconds: float, frame: FrameType | None) -> None:
        """Count, for the line that a frame is at, a copy of a tensor to another device, with its bytes and seconds."""
        self.used_device |= kind.on_device
        self._tally(frame, kind, nbytes, seconds)
        record = self.line_record(frame)
        if record is not None:
            tally = record.transfers.setdefault(kind, TransferTally())
            tally.count += 1
            tally.nbytes += nbytes
            tally.seconds += seconds
        if kind.waits:
            self._count_wait(record, frame)
        self._add_timeline_event("transfer", f"{kind.source} → {kind.target}", nbytes, frame)

    def record_redundant_transfer(self, kind: TransferKind, frame: FrameType | None) -> None:
        """Count, for the line that a frame is at, a transfer of a tensor that was already on the target device."""
        self.used_device |= kind.on_device
        self._tally(frame, kind)
        record = self.line_record(frame)
        if record is not None:
            record.transfers.setdefault(kind, TransferTally()).count += 1

    def record_wait(self, what: str, frame: FrameType | None, seconds: float = 0.0) -> None:
        """Count, for the line that a frame is at, a wait of the host for the accelerator.

        `what` names the reason for the wait, such as "item".
        """
        self._tally(frame, what, seconds=seconds)
        record = self.line_record(frame)
        if record is not None:
            tally = record.waits.setdefault(what, TransferTally())
            tally.count += 1
            tally.seconds += seconds
        self._count_wait(record, frame)
        self._add_timeline_event("wait", what, 0, frame)

    def _count_wait(self, record: LineRecord | None, frame: FrameType | None) -> None:
        """Count a wait of the host in the present training step, and for its line if the program asked for it."""
        steps = self.steps
        steps.waits += 1
        if record is not None and record.last_step_with_wait != steps.index and asked_by_program(frame):
            record.last_step_with_wait = steps.index
            record.steps_with_waits += 1

    def record_factory(self, name: str, frame: FrameType | None, *, on_device: bool) -> None:
        """Count, for the line that a frame is at, a tensor that the torch function `name` created."""
        self.used_device |= on_device
        record = self.line_record(frame)
        if record is not None:
            record.device_operators += on_device
            record.factories[name] = record.factories.get(name, 0) + 1

    def record_sync_warning(self, frame: FrameType | None) -> None:
        """Count, for the line that a frame is at, a warning that CUDA itself gave because the host waited."""
        record = self.line_record(frame)
        if record is not None:
            record.sync_warnings += 1

    def record_promotion(self, frame: FrameType | None) -> None:
        """Count, for the line that a frame is at, an operator on an accelerator that made float64 of other dtypes."""
        record = self.line_record(frame)
        if record is not None:
            record.promotions += 1

    def record_observation(self, observation: Observation) -> None:
        """Keep an observed problem, grouped with those of the same rule code and the same source location."""
        self.observations.setdefault((observation.code, observation.site), []).append(observation)
        self._add_timeline_event("finding", observation.code, 0, None, observation.site)

    def mark_interrupted(self, sites: Iterable[Site]) -> None:
        """Mark the lines at some source locations as lines that an error passed through.

        What comes later in the expressions of such a line may not have run.
        """
        self.interrupted.update((site.filename, row) for site in sites for row in range(site.line, site.last_line + 1))

    def add_note(self, text: str) -> None:
        """Add a note to the report about something that the recorder cannot see, or count the same note once more."""
        self.notes[text] = self.notes.get(text, 0) + 1

    def finish(self) -> None:
        """End the recording by keeping the present time as its end; later calls have no effect."""
        if self.ended is None:
            self.ended = time.perf_counter()

    def _add_timeline_event(
        self, kind: str, what: str, nbytes: int, frame: FrameType | None, site: Site | None = None
    ) -> None:
        """Add an event at the present time to the timeline, unless the timeline already has its maximum of events."""
        if len(self.timeline) < TIMELINE_LIMIT:
            now = time.perf_counter() - self.started
            self.timeline.append(TimelineEvent(now, self.operators, kind, what, nbytes, site or site_of(frame)))
