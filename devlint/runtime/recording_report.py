"""The report of a recorded program run: findings with verdicts, and a table of transfers and waits by source line."""

from __future__ import annotations

import json
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from devlint.diagnostic import Diagnostic, Note, Region
from devlint.output import full_format
from devlint.output.json_format import diagnostic_as_json
from devlint.output.report_context import ReportContext
from devlint.runtime.recorder import LineRecord, Recorder
from devlint.runtime.verdicts import FindingVerifier, Outcome, Verdict

TABLE_LINES = 12
"""The number of lines shown in the table; the others are only counted."""


@dataclass(frozen=True, slots=True)
class LineCost:
    """The transfers and waits of one source line of the user's code, with their bytes and seconds."""

    filename: str
    line: int
    source: str
    transfers: int
    nbytes: int
    waits: int
    seconds: float
    kinds: str


def _unchanged(seen: Diagnostic) -> Diagnostic | None:
    """Return a diagnostic as it is: the default for a report to which no project settings are applied."""
    return seen


@dataclass(slots=True)
class Report:
    """The report of what a recorder collected; complete once the recording is over.

    It holds the findings of the static analysis too, if there are any, to judge them by the recording.
    """

    recorder: Recorder
    findings: Sequence[Diagnostic] = ()
    ran: frozenset[tuple[str, int]] = frozenset()
    device: str = ""
    notes: list[str] = field(default_factory=list)
    peak: int = 0
    apply_settings: Callable[[Diagnostic], Diagnostic | None] = _unchanged

    @property
    def outcomes(self) -> list[Outcome]:
        """Return the findings of the static analysis with verdicts, and the problems that only the run showed.

        Problems that the project's settings silence are left out.
        """
        joined = FindingVerifier(self.recorder, self.ran).outcomes(self.findings)
        judged = [
            (
                outcome,
                self.apply_settings(outcome.diagnostic) if outcome.verdict is Verdict.OBSERVED else outcome.diagnostic,
            )
            for outcome in joined
        ]
        return [replace(outcome, diagnostic=kept) for outcome, kept in judged if kept is not None]

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics of all findings and problems that were seen to happen in the run."""
        return [outcome.diagnostic for outcome in self.outcomes if outcome.seen]

    @property
    def codes(self) -> set[str]:
        """Return the rule codes of all findings and problems that were seen to happen in the run."""
        return {found.code for found in self.diagnostics}

    @property
    def costs(self) -> list[LineCost]:
        """Return the source lines that moved tensors or waited for the accelerator, most expensive line first.

        Each comes with its numbers of transfers, bytes, waits and seconds.
        """
        costs = [_cost_of_line(record) for record in self.recorder.lines.values()]
        return sorted(
            (cost for cost in costs if cost.transfers or cost.waits),
            key=lambda cost: (-cost.seconds, -cost.nbytes, -cost.transfers - cost.waits, cost.filename, cost.line),
        )

    @property
    def failed(self) -> bool:
        """Return whether a finding of severity error was seen to happen in the run."""
        return any(outcome.fatal for outcome in self.outcomes)

    def full(self, *, color: bool = False) -> Iterator[str]:
        """Yield the report as text for the terminal, in parts."""
        outcomes = self.outcomes
        for verdict in Verdict:
            found = [with_relative_paths(_with_evidence(outcome)) for outcome in outcomes if outcome.verdict is verdict]
            if found and verdict is not Verdict.NOT_REACHED:
                yield f"── {verdict.value} ──\n"
                yield from full_format.blocks(found, ReportContext(lines=source_lines, color=color))
        yield from _unreached([outcome for outcome in outcomes if outcome.verdict is Verdict.NOT_REACHED])
        yield from self._table()
        yield self._summary(outcomes)

    def json(self) -> str:
        """Return the report as text in JSON."""
        return json.dumps(
            {
                "device": self.device,
                "operators": self.recorder.operators,
                "peak_bytes": self.peak,
                "findings": [_outcome_object(outcome) for outcome in self.outcomes],
                "lines": [_cost_object(cost) for cost in self.costs],
                "notes": self.remarks,
            },
            indent=2,
        )

    @property
    def remarks(self) -> list[str]:
        """Return the notes of the report, on what was not recorded and on float64 made on the accelerator."""
        seen = (f"{text} ({count}x)" for text, count in self.recorder.notes.items())
        return [*self.notes, *seen, *self._promotions(), *self._unseen_waits()]

    def _promotions(self) -> Iterator[str]:
        """Yield notes on source lines where operators on the accelerator made float64 of narrower operands."""
        for line in self.recorder.lines.values():
            if line.promotions:
                place = f"{relative_path(line.site.filename)}:{line.site.line}"
                yield f"float64 is made on the accelerator at {place} ({line.promotions}x)"

    def _unseen_waits(self) -> Iterator[str]:
        """Yield notes on source lines where CUDA says that the host waits but the recorder counted no wait."""
        for line in self.recorder.lines.values():
            blocking = any(kind.blocking and kind.source != kind.target for kind in line.transfers)
            if line.sync_warnings and not line.waits and not blocking:
                place = f"{relative_path(line.site.filename)}:{line.site.line}"
                yield f"CUDA says that the host waits at {place}, which the table does not show ({line.sync_warnings}x)"

    def _table(self) -> Iterator[str]:
        """Yield the text table of transfers and waits by source line, most expensive line first, in parts."""
        costs = self.costs
        if not costs:
            return
        yield "transfers and waits by line, most expensive first:\n"
        timed = any(cost.seconds for cost in costs)
        head = f"{'time':>10} " if timed else ""
        yield f"{head}{'moved':>10} {'transfers':>9} {'waits':>6}  where\n"
        for cost in costs[:TABLE_LINES]:
            place = f"{relative_path(cost.filename)}:{cost.line}"
            time = f"{format_duration(cost.seconds):>10} " if timed else ""
            yield f"{time}{format_bytes(cost.nbytes):>10} {cost.transfers:>9} {cost.waits:>6}  {place}  {cost.source}\n"
        if len(costs) > TABLE_LINES:
            yield f"{'':>{len(head) + 27}}  and {len(costs) - TABLE_LINES} more lines\n"
        yield "\n"

    def _summary(self, outcomes: list[Outcome]) -> str:
        """Return the end of the text report: its notes, and a last line with the numbers of operators and findings."""
        counts = [
            f"{count} {verdict.value}"
            for verdict in Verdict
            if (count := sum(outcome.verdict is verdict for outcome in outcomes))
        ]
        on = f" on {self.device}" if self.device else ""
        remarks = "".join(f"note: {text}\n" for text in self.remarks)
        peak = f", {format_bytes(self.peak)} at most" if self.peak else ""
        found = ", ".join(counts) or "none"
        return f"{remarks}devlint: {self.recorder.operators} operators{on}{peak}; findings: {found}\n"


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
        sum(tally.count for tally in record.waits.values()),
        sum(tally.seconds for tally in tallies),
        ", ".join(dict.fromkeys(kinds)),
    )


def _unreached(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a heading, and one line of text for each finding that the run could not judge; nothing if there is none."""
    if outcomes:
        yield f"── {Verdict.NOT_REACHED.value} ──\n"
    for outcome in outcomes:
        found = outcome.diagnostic
        place = f"{relative_path(found.region.filename)}:{found.region.start.row}:{found.region.start.column}"
        detail = f" ({outcome.detail})" if outcome.detail else ""
        yield f"{found.severity.value}[{found.code}] {found.name}: {place}{detail}\n"
    if outcomes:
        yield "\n"


def _with_evidence(outcome: Outcome) -> Diagnostic:
    """Return the diagnostic of a judged finding, with verdict and evidence in an additional last trace note.

    The diagnostic of a problem that only the run showed is returned as it is.
    """
    found = outcome.diagnostic
    if outcome.verdict is Verdict.OBSERVED:
        return found
    verdict_text = ", ".join([outcome.verdict.value, *evidence_texts(outcome)])
    note = Note(f"{verdict_text}: {outcome.detail}" if outcome.detail else verdict_text, outcome.place or found.region)
    return replace(found, trace=(*found.trace, note))


def evidence_texts(outcome: Outcome) -> Iterator[str]:
    """Yield texts that tell how often a finding was seen in a run and how many bytes and seconds it cost.

    A number is left out if it tells nothing: a count below two, no bytes, no seconds.
    """
    if outcome.count > 1:
        yield f"{outcome.count} times"
    if outcome.nbytes:
        yield format_bytes(outcome.nbytes)
    if outcome.seconds:
        yield format_duration(outcome.seconds)


def with_relative_paths(found: Diagnostic) -> Diagnostic:
    """Return a copy of a diagnostic whose file names are relative to the current directory where possible."""

    def renamed(region: Region) -> Region:
        return replace(region, filename=relative_path(region.filename))

    trace = tuple(Note(note.message, renamed(note.region)) for note in found.trace)
    return replace(found, region=renamed(found.region), trace=trace)


def _outcome_object(outcome: Outcome) -> dict[str, object]:
    """Return a finding with its verdict and evidence as a dict for the JSON report."""
    return {
        **diagnostic_as_json(with_relative_paths(outcome.diagnostic)),
        "verdict": outcome.verdict.value,
        "evidence": {
            "count": outcome.count,
            "bytes": outcome.nbytes,
            "seconds": outcome.seconds,
            "detail": outcome.detail,
        },
    }


def _cost_object(cost: LineCost) -> dict[str, object]:
    """Return the transfers and waits of one source line as a dict for the JSON report."""
    return {
        "filename": relative_path(cost.filename),
        "line": cost.line,
        "source": cost.source,
        "transfers": cost.transfers,
        "bytes": cost.nbytes,
        "waits": cost.waits,
        "seconds": cost.seconds,
        "kinds": cost.kinds,
    }


def source_lines(filename: str, cell: int | None) -> Sequence[str]:
    """Return the lines of a source file without their line ends.

    `cell`, the index of a notebook cell, is ignored, because notebooks are not run.
    """
    return [line.rstrip("\n") for line in linecache.getlines(filename)]


def relative_path(filename: str) -> str:
    """Return a file name relative to the current directory if the file lies below it, otherwise the name as given."""
    path, base = Path(filename), Path.cwd()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else filename


def format_bytes(nbytes: int) -> str:
    """Return a number of bytes as readable text, such as `1.5 kB`."""
    amount = float(nbytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def format_duration(seconds: float) -> str:
    """Return a number of seconds as readable text, such as `2.5 ms`."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"
