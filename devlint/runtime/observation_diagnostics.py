"""Conversion of observations (problems seen while a program ran) into diagnostics like those of the static analysis."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity
from devlint.linter.rule_listing import find_rule_metadata
from devlint.runtime.call_sites import Site
from devlint.runtime.recorder import Observation, Recorder
from devlint.runtime.storage_labels import HistoryStep

_COSTS = "DEV4"
"""The beginning of the codes of rules about what a program wastes."""
_INSTEAD_OF_WAITING = (
    "read the values only every N steps, or collect them on the accelerator and read them after the loop"
)
"""The advice for a line that waits in each training step."""
FEWEST_STEPS = 3
"""The number of training steps from which on DEV403 (sync-in-loop) is reported for the lines that wait in them."""


def grouped_observations(recorder: Recorder) -> list[list[Observation]]:
    """Return all problems that a recorder has observed, as groups with the same rule code and the same source location.

    Lines where the program makes the host wait in each training step form groups of their own (DEV403).
    """
    return [*recorder.observations.values(), *_waits_of_steps(recorder)]


def _waits_of_steps(recorder: Recorder) -> list[list[Observation]]:
    """Return DEV403 (sync-in-loop) observations for the lines at which the host waited in most training steps.

    What waits now and then, such as a log of every tenth step or a validation after each epoch, is not among them, nor
    is a call of `synchronize`. Each such line gives one list, which has one entry for each wait.
    """
    steps = recorder.steps.index
    found: list[list[Observation]] = []
    for line in recorder.lines.values():
        kinds = {what: tally.count for what, tally in line.waits.items() if what != "synchronize"}
        downloads = sum(tally.count for kind, tally in line.transfers.items() if kind.waits)
        if downloads:
            kinds["transfer to the host"] = downloads
        waited = min(line.steps_with_waits, steps)
        if kinds and steps >= FEWEST_STEPS and waited > steps / 2:
            when = "in every training step" if waited == steps else f"in {waited} of {steps} training steps"
            message = f"the host waits here for the accelerator {when}, for {' and '.join(map(_reason, kinds))}"
            found.append([Observation("DEV403", message, line.site)] * sum(kinds.values()))
    return found


def _reason(what: str) -> str:
    """Return the words for the reason of a wait: `item()` for the name of an operator, a noun for anything else."""
    return f"`{what}()`" if what.isidentifier() else f"a {what}"


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
    return tuple(Note(step.text, region_of(step.site)) for step in steps if step.site is not None)


def diagnostic_of(group: list[Observation]) -> Diagnostic:
    """Return one diagnostic for a group of observations that have the same rule code and the same source location.

    Its message tells how many they are. What costs something is only an information if it happened once, as it is for
    the rules themselves.
    """
    first = group[0]
    rule = find_rule_metadata(first.code)
    severity = rule.severity if rule else Severity.ERROR if first.raised else Severity.WARNING
    if first.code.startswith(_COSTS) and len(group) == 1 and severity is Severity.WARNING:
        severity = Severity.INFO
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
        help=_INSTEAD_OF_WAITING if first.code == "DEV403" else None,
    )
