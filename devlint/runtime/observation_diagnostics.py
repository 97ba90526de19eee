"""Conversion of observations (problems seen while a program ran) into diagnostics like those of the static analysis."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity
from devlint.linter.rule_listing import find_rule_metadata
from devlint.runtime.call_sites import Site
from devlint.runtime.recorder import LineRecord, Observation, Recorder
from devlint.runtime.storage_labels import HistoryStep

SYNC_IN_LOOP_COUNT = 3
"""The number of waits at one line from which on DEV403 (sync-in-loop) is reported."""


def grouped_observations(recorder: Recorder) -> list[list[Observation]]:
    """Return all problems that a recorder has observed, as groups with the same rule code and the same source location.

    Lines where the host waited again and again for the accelerator form groups of their own (DEV403).
    """
    return [*recorder.observations.values(), *_repeated_waits(recorder.lines.values())]


def _repeated_waits(lines: Iterable[LineRecord]) -> list[list[Observation]]:
    """Return DEV403 (sync-in-loop) observations for the lines at which the host waited three times or more.

    Only waits for the same reason are added up. A transfer to the host is a wait; a call of `synchronize` is none. Each
    such line gives one list, which has one entry for each wait.
    """
    found: list[list[Observation]] = []
    for line in lines:
        kinds = {what: tally.count for what, tally in line.waits.items() if what != "synchronize"}
        to_host = sum(tally.count for kind, tally in line.transfers.items() if kind.to_host and kind.source != "cpu")
        if to_host:
            kinds["transfer to the host"] = to_host
        count = max(kinds.values(), default=0)
        if count >= SYNC_IN_LOOP_COUNT:
            message = f"the host waits here for the accelerator again and again ({', '.join(kinds)})"
            found.append([Observation("DEV403", message, line.site)] * count)
    return found


def region_of(site: Site | None) -> Region:
    """Return the source region of a source location.

    It starts at column 1 where Python does not tell columns, and is in the file `<unknown>` if the location is None.
    """
    if site is None:
        return Region("<unknown>", Position(1, 1), Position(1, 1))
    start = Position(site.line, site.column or 1)
    end = Position(site.end_line or site.line, site.end_column or start.column)
    return Region(site.filename, start, end)


def trace_notes(steps: Iterable[HistoryStep]) -> tuple[Note, ...]:
    """Return the steps of a tensor's history as the trace notes of a diagnostic, which explain it step by step.

    Steps whose source location is not known are left out.
    """
    return tuple(Note(step.message, region_of(step.site)) for step in steps if step.site is not None)


def diagnostic_of(group: list[Observation]) -> Diagnostic:
    """Return one diagnostic for a group of observations that have the same rule code and the same source location.

    Its message tells how many they are.
    """
    first = group[0]
    rule = find_rule_metadata(first.code)
    severity = rule.severity if rule else Severity.ERROR if first.raised else Severity.WARNING
    times = f" ({len(group)} times)" if len(group) > 1 else ""
    raised = f"{first.raised}: " if first.raised else ""
    return Diagnostic(
        code=first.code,
        name=rule.name if rule else first.code,
        severity=severity,
        confidence=Confidence.CERTAIN,
        message=f"{raised}{first.message}{times}",
        region=region_of(first.site),
        trace=trace_notes(first.steps),
    )
