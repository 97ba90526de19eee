"""What a run shows about each finding that `devlint confirm` asks about: the verdict, and whether its story ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from devlint.diagnostic import Diagnostic, Region
from devlint.linter.json_records import from_json
from devlint.runtime.failure_places import failure_region
from devlint.runtime.observation_matching import FileLine, canonical_path, covers, lines_of
from devlint.runtime.recorded_run import RecordedRun
from devlint.runtime.verdicts import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding, and its story: the places, each as a file with a first and a last line, that must run for it.

    `skippable` tells that a place may be skipped although its line runs.
    """

    finding: Diagnostic
    story: Sequence[tuple[str, int, int]]
    skippable: bool


def claims_in(request: Mapping[str, Any]) -> list[Claim]:
    """Return the claims that a request holds as JSON."""
    return [Claim(from_json(Diagnostic, one), story, skippable) for one, story, skippable in request["claims"]]


def evidence_on(run: RecordedRun, claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Return what a recorded run shows about some claims, a JSON object for each, in their order.

    The members: `verdict`, as `devlint run` gives it, with `detail`, `raised`, `after_going_on` and the `row` where it
    was seen; `reached`: whether the line where the finding fails ran; `ended`: whether it ran without an exception;
    `told`: whether the lines of all places of the finding's story ran, or the run noted no lines, as that of a test
    does; `at_place`: whether an error was raised where the finding says that it fails, and not only elsewhere with the
    tensor that it is about; `used`: whether the operation ran on the accelerator, and `used_elsewhere`: whether another
    one did; `held`: whether the story ran, none of its places may have been skipped, and the operation ran on the
    accelerator to its end; `errors`: how many errors were seen; `behind`: whether another error was
    raised before its own.
    """
    run.findings = [claim.finding for claim in claims]
    by_finding: dict[int, Outcome] = {id(one.diagnostic): one for one in run.outcomes}
    errors = sum(one.fatal for one in run.outcomes)
    ran = {(canonical_path(filename), line) for filename, line in run.ran}
    return [_evidence(run, by_finding[id(claim.finding)], claim, ran, errors) for claim in claims]


def _evidence(run: RecordedRun, outcome: Outcome, claim: Claim, ran: set[FileLine], errors: int) -> dict[str, Any]:
    """Return what a recorded run shows about one finding as a JSON object."""
    fails = failure_region(claim.finding)
    interrupted = {(canonical_path(filename), line) for filename, line in run.recorder.interrupted}
    ended = ran - interrupted
    story_ran = all(_ran(place, ran) for place in claim.story)
    held = story_ran and not claim.skippable and all(row in ended for row in lines_of(fails) if row in ran)
    used = any(covers(site, fails) for site in run.recorder.device_sites)
    return {
        "verdict": outcome.verdict.value,
        "detail": outcome.detail,
        "raised": outcome.raised,
        "after_going_on": outcome.after_going_on,
        "row": outcome.place.start.row if outcome.place is not None else None,
        "filename": outcome.place.filename if outcome.place is not None else None,
        "reached": any(row in ran for row in lines_of(fails)),
        "ended": any(row in ended for row in lines_of(fails)),
        "told": story_ran or not ran,
        "at_place": _raised_at(run, fails),
        "used": used,
        "used_elsewhere": any(not covers(site, fails) for site in run.recorder.device_sites),
        "held": held and used and outcome.verdict is not Verdict.CONFIRMED,
        "errors": errors,
        "behind": outcome.verdict is Verdict.CONFIRMED and _is_behind_another(run, outcome),
    }


def _is_behind_another(run: RecordedRun, outcome: Outcome) -> bool:
    """Return whether an error was raised at another place before the first one at the place of an outcome."""
    if outcome.place is None:
        return False
    filename, first, last = outcome.place.filename, outcome.place.start.row, outcome.place.end.row
    for (_, site), group in run.recorder.observations.items():
        if site is not None and any(one.raised for one in group):
            return not (canonical_path(site.filename) == canonical_path(filename) and first <= site.line <= last)
    return False


def _raised_at(run: RecordedRun, fails: Region) -> bool:
    """Return whether an error was raised in an expression that a program came to through a source region."""
    return any(
        one.raised is not None and any(covers(site, fails) for site in (one.site, *one.through) if site is not None)
        for group in run.recorder.observations.values()
        for one in group
    )


def _ran(place: tuple[str, int, int], ran: set[FileLine]) -> bool:
    """Return whether a line of a place ran."""
    filename, first, last = place
    return any((canonical_path(filename), row) in ran for row in range(first, last + 1))
